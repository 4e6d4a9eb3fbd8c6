/*
 * The answers of PyTorch, which knows nothing of this program, where it is installed: m(T) and
 * m(T') in float and bfloat16, and what a converted file alone gives.
 */
#include "../fixture.h"
#include "../oracle.h"
#include "../program.h"
#include "../unit.h"

#include <stdio.h>

/* Products large enough that an old version sums them in float. */
static const char *const larger[] = {
    "--construction silu --n 20 --d 24 --omega 9",
    "--construction linear --n 20 --d 24 --mask causal --omega 12 --bias random",
    "--construction attention --n 24 --d 32 --d-head 20 --scale '1/sqrt(d_head)' --omega 11",
    "--construction fused --n 18 --d 20 --d-ff 40 --bias random --omega 13",
    ("--construction transformer --n 20 --d 20 --d-ff 24 --d-head 16 --heads 1 --bias random "
     "--mask causal --omega 12")};

enum { LARGER = sizeof larger / sizeof *larger };

/* What a framework gives that knows nothing of this program. */
static void frameworks_say_the_same(void **state)
{
    static const Arithmetic arithmetics[] = {ARITHMETIC_F32, ARITHMETIC_BF16};
    const Scratch *scratch = *state;
    const char *interpreter = oracle_needed("numpy, torch");
    char path[SCRATCH_PATH], asked[8192];
    size_t used = (size_t)snprintf(asked, sizeof asked, "tests/oracle_torch.py");
    for (size_t i = 0; i < 2 * LARGER; i++) {
        Arithmetic arithmetic = arithmetics[i % 2];
        oracle_export(path, scratch, i, larger[i / 2], arithmetic, KERNEL_STRUCTURED);
        used += (size_t)snprintf(asked + used, sizeof asked - used, " %s %s", path,
                                 arithmetic_names[arithmetic]);
    }
    oracle_agree(interpreter, asked, "torch");
}

/* By the program of docs/convert.md and the package in python/, from token ids to logits. */
static void a_converted_file_is_enough(void **state)
{
    const Scratch *scratch = *state;
    char line[2 * SCRATCH_PATH];
    snprintf(line, sizeof line,
             "-c 'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=python %s "
             "tests/converted_alone.py %s 2>&1'",
             oracle_needed("numpy, torch"), scratch->directory);
    Output output = run_program("sh", line);
    expect_says(&output, 0, "all is well");
}

SUBJECT(torch)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(frameworks_say_the_same),
        SCRATCH_TEST(a_converted_file_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
