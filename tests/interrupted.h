/*
 * Tools for tests of interrupted runs: files as a whole, and programs that are killed.
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

/* Its length; 0 where there is none. */
off_t size_of(const char *path);

/* Turns a complete sweep, FILE and FILE.json, into what a run leaves that was interrupted:
 * FILE.partial with the points of the first `length` bytes of `whole`, the last perhaps torn, which
 * have `depth` rows each and took so many seconds.  What it left already may be there instead. */
void leave_interrupted(const char *path, const Output *whole, size_t length, size_t depth,
                       double seconds);

/* How many points such a run left, all of them whole and with rows of `whole`. */
size_t points_left(const char *path, const Output *whole);

/* Starts headproof with these arguments, as a shell reads them. */
pid_t start_program(const char *arguments);

void pause_seconds(double seconds);

/* The state of a test's own random numbers: TEST_SEED's, or the time; printed. */
uint64_t kill_seed(void);

/* In [0, 1). */
double kill_share(uint64_t *state);

#endif
