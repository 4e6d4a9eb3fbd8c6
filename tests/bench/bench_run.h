/*
 * Tools of all benchmarks: the models they time, time itself, the table that they leave as CSV
 * with a sidecar beside what they print, and the aims that they check.
 *
 *     bench... [-o FILE.csv] [ARGUMENT...]
 *
 * Everything runs on one thread unless a row says otherwise.
 */
#ifndef HEADPROOF_TESTS_BENCH_BENCH_RUN_H
#define HEADPROOF_TESTS_BENCH_BENCH_RUN_H

#include "../../cases/case.h"
#include "../../harness/table/sidecar.h"

#include <stdio.h>

/* arguments [count]: those behind -o FILE, then NULL.  known: the first of them names a part, or
 * there is none.  table: its file is NULL where none is written. */
typedef struct {
    int argc, count;
    char **argv, **arguments;
    bool known;
    AtomicFile table;
    FILE *aims;
    char *aims_text;
    size_t aims_size;
} BenchRun;

/* Sets up BLAS, MPFR and OpenMP, and opens the file with its header line.  Ends the program when
 * that cannot be done. */
void bench_start(BenchRun *run, int argc, char **argv, const char *columns);

/* Is this part to be run: is it the first argument, or is there none? */
bool bench_wants(BenchRun *run, const char *part);

/* A line of the file; nothing where there is none. */
void bench_row(BenchRun *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps a line for the end: what was aimed at, and whether it was met. */
void bench_aim(BenchRun *run, bool met, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints the aims and completes the file.  Returns the program's exit code: 0, 2 after a message
 * when the arguments meant nothing, or 99; an aim that was missed is no fault, since it may be the
 * machine's. */
int bench_finish(BenchRun *run);

/* A number as a cell of the file; blank when it is NaN.  Returns text. */
enum { BENCH_CELL = 32 };
const char *bench_cell(char text[BENCH_CELL], double number);

_Noreturn void bench_fail(const char *reason);

/* The models; ends the program when memory is short. */
Pair bench_pair(const CaseSpec *spec);

/* The process's processor time, which is not that of others on the machine; for one thread. */
double bench_cpu_seconds(void);

/* One evaluation of thing number `which`; returns its seconds. */
typedef double BenchTimed(const void *context, int which);

/* seconds [count] = the medians of 7 runs each, of fewer where they take more than `enough`
 * seconds. The things take turns, so that what others do to the machine does not enter their
 * ratios. */
void bench_medians(double *seconds, int count, BenchTimed *timed, const void *context,
                   double enough);

/* For qsort of doubles. */
int bench_compare(const void *a, const void *b);

#endif
