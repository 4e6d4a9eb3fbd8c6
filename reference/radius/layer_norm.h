/*
 * What bounds the errors of a layer norm at one row (private to reference/radius/; docs/certify.md,
 * (C35) to (C38)): of those before a part, and of the one before an unembedding.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_LAYER_NORM_H
#define HEADPROOF_REFERENCE_RADIUS_LAYER_NORM_H

#include "../evaluator/layer_norm.h"

/* A row's numbers: D; G = max |gamma|; the least of sqrt(s) near x, near x + e and between; at
 * least |x| and |c|; |e| in 2^unit. */
typedef struct {
    double columns, gamma, here, there, between, x, c, e;
    mpfr_prec_t bits;
    mpfr_exp_t unit;
} NormRow;

/* The row without a change; root: sqrt(s) there, path: what x may be off by. */
NormRow norm_row(const LayerNorm *norm, double x, double root, double path);

/* sqrt(s) is at least this where a row is off by at most `off`. */
double norm_least_root(const LayerNorm *norm, double root, double off);

/* What norm(x), of size y, is within, in 2^-bits, where x is within rho. */
double norm_row_rho(const NormRow *row, double rho, double y);

/* What norm(x + e) - norm(x), of size y, is within, where e is within eta: both in
 * 2^(unit - bits). */
double norm_row_eta(const NormRow *row, double rho, double eta, double y);

#endif
