/*
 * Tools for tests of files and messages: a directory of their own, files in it, and what was
 * printed on stderr.  Faults of the test's own surroundings end the test.
 */
#ifndef HEADPROOF_TESTS_SCRATCH_H
#define HEADPROOF_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#define SCRATCH_PATH 512
#define SCRATCH_TEXT 65536

typedef struct {
    char directory[SCRATCH_PATH];
    int saved_stderr;
} Scratch;

/* A new directory under $TMPDIR or /tmp; removed with what is in it (one level). */
void scratch_make(Scratch *scratch);
void scratch_remove(Scratch *scratch);

/* path [SCRATCH_PATH] = directory/name. */
void scratch_path(char *path, const Scratch *scratch, const char *name);

/* text [size] = pattern with the place in place of every %; ends the test where it does not fit. */
void scratch_fill(char *text, size_t size, const char *place, const char *pattern);

void file_write(const char *path, const char *bytes, size_t count);

/* text [SCRATCH_TEXT], with a NUL appended; returns the count of bytes, or -1 without a file. */
long file_read(char *text, const char *path);

bool file_exists(const char *path);

/* Redirects stderr until stderr_take, which gives back what was printed: text [SCRATCH_TEXT]. */
void stderr_hold(Scratch *scratch);
void stderr_take(char *text, Scratch *scratch);

/* The number of newlines, and of places where a word begins. */
size_t count_lines(const char *text);
size_t count_words(const char *text, const char *word);

#endif
