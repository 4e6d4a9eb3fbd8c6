/*
 * Runs that are stopped at a system call, whatever the load: a command runs in a process of its
 * own, and the calls of it that change files (and only these) are counted on their way to the
 * system.
 *
 * Only the test programs that the Makefile names are linked with this.  What the C library calls by
 * itself, the write of an fflush, is not seen; the fsync behind it is.
 */
#ifndef HEADPROOF_TESTS_PROGRAM_KILL_POINTS_H
#define HEADPROOF_TESTS_PROGRAM_KILL_POINTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Before the at-th call, and a write has written half; at 0: never.  signal: that the process sends
 * itself there, behind which it goes on unless the signal kills it; 0: it waits for its end. */
typedef struct {
    long at;
    int signal;
} Stop;

/* code: the exit code, or -1 when a signal ended it.  calls: what was counted. */
typedef struct {
    int code, signal;
    long calls;
} Ended;

/* line: what would be typed behind the program's name, words between blanks.  said: a file that
 * gets stdout and stderr. */
Ended run_until(const char *line, Stop stop, const char *said);

/* The same without waiting for its end, but until it stops; -1 when it ended before. */
pid_t start_until(const char *line, Stop stop, const char *said);

#endif
