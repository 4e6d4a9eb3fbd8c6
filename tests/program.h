/*
 * Runs the program that HEADPROOF names, as a user does, and reads its CSV.
 */
#ifndef HEADPROOF_TESTS_PROGRAM_H
#define HEADPROOF_TESTS_PROGRAM_H

#include "scratch.h"

#include <stddef.h>

/* A run's standard output and exit code; or a file's bytes.  The text, which a 0 ends, stays until
 * the test program ends. */
typedef struct {
    char *text;
    size_t length;
    int code;
} Output;

/* Its path; fails the test when there is none. */
const char *program(void);

/* The text, until the test program ends. */
char *keep(char *text);

/* directory/name, as long. */
const char *path_in(const Scratch *scratch, const char *name);

/* arguments: as a shell reads them.  Sentences are not broken into lines. */
Output run_program(const char *path, const char *arguments);
Output run(const char *arguments);

/* The same of arguments formatted as by printf; it must exit with the code. */
Output run_formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
Output expect_run(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* text [size]: what a run prints whose standard output is a terminal, with "\\r\\n" for each "\\n";
 * little enough for the terminal's own buffer.  It must exit with the code. */
void run_on_terminal(char *text, size_t size, const char *arguments, int code);

/* Each of the requests [count] must exit with 2, after a line on stderr or as many as
 * most_lines. */
void expect_refused(const char *const *requests, size_t count, size_t most_lines);

/* The run must have ended with the code and have said that. */
void expect_says(const Output *output, int code, const char *says);

/* The text of a column in line (0: the header) of a CSV; fails the test when it is not there. */
void cell(char *text, size_t size, const Output *output, size_t line, const char *column);

/* The same as a number. */
double number(const Output *output, size_t line, const char *column);

/* The number behind the first place where the output says that; fails the test where it says it
 * nowhere. */
double number_after(const Output *output, const char *says);

/* Two lines have the same text in a column. */
void expect_same_cell(const Output *a, size_t line_a, const Output *b, size_t line_b,
                      const char *column);

void expect_cell(const Output *output, size_t line, const char *column, const char *text);

size_t lines(const Output *output);

#endif
