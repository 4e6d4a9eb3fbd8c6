/*
 * Fresh random matrices for the benchmarks of reference/product/.
 */
#ifndef HEADPROOF_TESTS_BENCH_BENCH_NUMBERS_H
#define HEADPROOF_TESTS_BENCH_BENCH_NUMBERS_H

#include "../../reference/product/product.h"

#include <stdint.h>

/* Normal numbers with all bits random; doubles; doubles that are floats, as trained weights are;
 * rows like a softmax's, all bits random. */
typedef enum { NUMBERS_FULL, NUMBERS_DOUBLES, NUMBERS_FLOATS, NUMBERS_PATTERN } NumbersForm;

/* A normal number; *state is not 0. */
double numbers_normal(uint64_t *state);

void numbers_fill(ApMat *m, NumbersForm form, uint64_t *state);

#endif
