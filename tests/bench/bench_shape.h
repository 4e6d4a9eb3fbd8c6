/*
 * Products of one shape, timed, by a backend of reference/product/.
 */
#ifndef HEADPROOF_TESTS_BENCH_BENCH_SHAPE_H
#define HEADPROOF_TESTS_BENCH_BENCH_SHAPE_H

#include "bench_numbers.h"

enum { SHAPE_RUNS = 15 };

/* A [m, k] times B [k, n]. */
typedef struct {
    const char *name;
    size_t m, k, n;
    NumbersForm a, b;
    size_t times; /* in a layer */
} Shape;

double multiply_adds(const Shape *s);

/* The least of several runs, in nanoseconds a multiply-add: by a backend.  *report:
 * of the last run.  Every run has fresh matrices. */
double time_product(const Shape *s, mpfr_prec_t bits, ProductBackend backend,
                    ProductReport *report);

#endif
