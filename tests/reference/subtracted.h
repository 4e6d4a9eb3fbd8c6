/*
 * e = r(T') - r(T_infinity) as it is evaluated, beside two evaluations that are subtracted.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_SUBTRACTED_H
#define HEADPROOF_TESTS_REFERENCE_SUBTRACTED_H

#include "../../reference/reference.h"
#include "../real.h"

/* The three evaluations of one model. */
typedef struct {
    const Layout *layout;
    RefRun *converted, *limit, *difference;
} Subtracted;

/* subtract_bits: of the two, bits: of e. */
Subtracted subtracted_open(const Model *model, const double *x, const double *content, double omega,
                           mpfr_prec_t subtract_bits, mpfr_prec_t bits);
void subtracted_layer(const Subtracted *runs);
void subtracted_clear(Subtracted *runs);

/* The largest |e| of some rows, and how far the two ways are from one another. */
typedef struct {
    Real largest, error;
} Agreement;

Agreement subtracted_rows(const Subtracted *runs, size_t first, size_t count);

#endif
