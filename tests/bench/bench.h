/*
 * The rows of `bench`: an evaluation's time against another's in the same run.
 */
#ifndef HEADPROOF_TESTS_BENCH_BENCH_H
#define HEADPROOF_TESTS_BENCH_BENCH_H

#include "bench_run.h"

/* What is hoped for on the machine that the aims were set for; 0: nothing. */
typedef struct {
    double times_at_least, times_at_most, ms_at_most;
} Aim;

/* milliseconds is `times` times what `against` takes (NULL: nothing).  bits and omega are 0 where
 * they do not matter. */
typedef struct {
    const char *what, *construction;
    size_t n, d, d_ff;
    int threads;
    long bits;
    double omega, milliseconds;
    const char *against;
    double times;
    Aim aim;
} Timing;

#define TIMING_COLUMNS                                                                             \
    "evaluation,construction,n,d,d_ff,threads,bits,omega,milliseconds,against,times,aim,met"

/* Writes the row, and keeps the aim for the end. */
void bench_timing(BenchRun *run, const Timing *timing);

/* Layers in double against the dgemms that they are made of: dense at three sizes, structured at
 * that of a small language model. */
void bench_shares(BenchRun *run);

/* Layers in every machine arithmetic (bench_arithmetics.c). */
void bench_arithmetics(BenchRun *run);

#endif
