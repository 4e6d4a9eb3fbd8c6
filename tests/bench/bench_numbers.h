/*
 * Fresh random matrices for the benchmarks of reference/product/, and what Arb by itself takes for
 * the same: without the conversions and checks of the project's own Arb backend.
 */
#ifndef HEADPROOF_TESTS_BENCH_NUMBERS_H
#define HEADPROOF_TESTS_BENCH_NUMBERS_H

#include "../../reference/product/product.h"

#include <stdint.h>

/* Normal numbers with all bits random; doubles; doubles that are floats, as trained weights are;
 * rows like a softmax's, all bits random. */
typedef enum { NUMBERS_FULL, NUMBERS_DOUBLES, NUMBERS_FLOATS, NUMBERS_PATTERN } NumbersForm;

/* A normal number; *state is not 0. */
double numbers_normal(uint64_t *state);

void numbers_fill(ApMat *m, NumbersForm form, uint64_t *state);

/* Processor seconds of arb_mat_mul(A, B) at bits, count times, of matrices a[i] and b[i]: views of
 * whole ones, row-major.  NaN in a build without FLINT. */
double numbers_arb_products(const ProductView *a, const ProductView *b, size_t count,
                            mpfr_prec_t bits);

/* Processor seconds of arb_exp of every entry at the matrix's precision, or NaN. */
double numbers_arb_exp(const ApMat *x);

#endif
