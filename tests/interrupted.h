/*
 * Tools for tests of interrupted runs: files as a whole, and what such a run leaves.
 */
#ifndef HEADPROOF_TESTS_INTERRUPTED_H
#define HEADPROOF_TESTS_INTERRUPTED_H

#include "program.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All of a file. */
Output read_file(const char *path);

void expect_same(const Output *a, const Output *b, const char *what);

/* Turns a complete sweep, FILE and FILE.json, into what a run leaves that was interrupted:
 * FILE.partial with the points of the first `length` bytes of `whole`, the last perhaps torn, which
 * have `depth` rows each and took so many seconds.  What it left already may be there instead. */
void leave_interrupted(const char *path, const Output *whole, size_t length, size_t depth,
                       double seconds);

#endif
