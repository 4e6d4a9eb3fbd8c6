/*
 * Shell scripts that a test runs in a directory of its own, as a user's scripts do.
 */
#ifndef HEADPROOF_TESTS_SHELL_H
#define HEADPROOF_TESTS_SHELL_H

#include "program.h"
#include "scratch.h"

/* A test's set-up makes the directory, its tear-down removes it. */
int shell_set_up(void **state);
int shell_tear_down(void **state);
#define SHELL_TEST(test) cmocka_unit_test_setup_teardown(test, shell_set_up, shell_tear_down)

const Scratch *shell_scratch(void);

/* A file's path in that directory, until the test program ends; and a file with a text. */
const char *shell_path(const char *name);
void shell_write(const char *name, const char *text);

/* Runs a script, formatted as by printf and without ', in that directory; $HEADPROOF and $h are the
 * program, $p is the project's directory.  text has stdout and stderr. */
Output shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The run must have ended with the code and have said that. */
void expect_output(Output output, int code, const char *says);

/* expect_output of a script as it stands. */
void expect_shell(const char *script, int code, const char *says);

#endif
