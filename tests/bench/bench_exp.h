/*
 * exp of vectors: nanoseconds a call of mpfr_exp and of the project's two.
 */
#ifndef HEADPROOF_TESTS_BENCH_BENCH_EXP_H
#define HEADPROOF_TESTS_BENCH_BENCH_EXP_H

#include "bench_run.h"

#include <mpfr.h>

void bench_exp_heading(void);

/* Prints a line and writes the rows; returns the nanoseconds of vexp. */
double bench_exp(BenchRun *run, mpfr_prec_t bits);

#endif
