/*
 * Programs in Python that evaluate what this one has exported: found, fed and asked.
 */
#include "oracle.h"

#include "program.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

const char *const oracle_forms[KERNEL_COUNT] = {
    [KERNEL_DENSE] = "dense", [KERNEL_STRUCTURED] = "structured"};

const char *oracle_python(const char *modules)
{
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    for (size_t i = 0; i < 2; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "-c '%s -c \"import %s\" 2>/dev/null'", names[i],
                 modules);
        Output output = run_program("sh", arguments);
        if (output.code == 0) {
            return names[i];
        }
    }
    return NULL;
}

const char *oracle_needed(const char *modules)
{
    const char *python = oracle_python(modules);
    if (python == NULL) {
        print_message("there is no Python with %s: skipped\n", modules);
        skip();
    }
    return python;
}

void oracle_export(char path[SCRATCH_PATH], const Scratch *scratch, size_t number,
                   const char *configuration, Arithmetic arithmetic, KernelForm form)
{
    char name[32];
    snprintf(name, sizeof name, "%zu.safetensors", number);
    scratch_path(path, scratch, name);
    expect_run(0, "export %s --arithmetic %s --kernel %s --precision 128 --quiet -o %s",
               configuration, arithmetic_names[arithmetic], oracle_forms[form], path);
}

void oracle_agree(const char *interpreter, const char *asked, const char *about)
{
    Output output = run_program(interpreter, asked);
    print_message("%s: exit %d\n", about, output.code);
    if (output.code != 0) {
        fprintf(stderr, "%s\n", output.text); /* cmocka would cut it at 1 kB */
    }
    assert_int_equal(output.code, 0);
}
