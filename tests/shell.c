/*
 * Shell scripts in a scratch directory: one directory a test, one shell a script.
 */
#include "shell.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Scratch scratch; /* of the test at hand */

int shell_set_up(void **state)
{
    scratch_make(&scratch);
    return 0;
}

int shell_tear_down(void **state)
{
    scratch_remove(&scratch);
    return 0;
}

const Scratch *shell_scratch(void)
{
    return &scratch;
}

const char *shell_path(const char *name)
{
    return path_in(&scratch, name);
}

void shell_write(const char *name, const char *text)
{
    file_write(shell_path(name), text, strlen(text));
}

Output shell(const char *format, ...)
{
    char script[3072], line[4096];
    va_list arguments;
    va_start(arguments, format);
    assert_true(vsnprintf(script, sizeof script, format, arguments) < (int)sizeof script);
    va_end(arguments);
    assert_null(strchr(script, '\''));
    snprintf(line, sizeof line, "-c 'h=$(realpath \"$HEADPROOF\"); p=$PWD; cd %s && { %s\n} 2>&1'",
             scratch.directory, script);
    return run_program("sh", line);
}

void expect_output(Output output, int code, const char *says)
{
    expect_says(&output, code, says);
}

void expect_shell(const char *script, int code, const char *says)
{
    expect_output(shell("%s", script), code, says);
}
