/*
 * Bounds that all kinds of sublayers need (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BOUNDS_H
#define HEADPROOF_REFERENCE_RADIUS_BOUNDS_H

#include "internal.h"

/* A sum of squares beside which those that underflow are nothing. */
#define SQUARES_LEAST 0x1p-800

/* x 2^exponent, rounded up. */
double bound_scaled(double x, mpfr_exp_t exponent);

/* The largest, and the sum, over the rows. */
double banks_largest(const Radius *r, const Banks *banks, Columns columns);

/* A number of units of rho, and of e, as a double. */
double point_rho(const Radius *r, double x);
double point_e(const Radius *r, double x);

/* e^(-Omega gap + z), what a key outside A weighs at most beside one of A, in units of e; no
 * more than 1. */
double bound_leak(const Radius *r, int gap, double z);

/* A factor for what is linear in a relative error of x 2^-bits: 2, infinite where that is not
 * small. */
double bound_linear(const Radius *r, double x);

/* Rounding of a product with k terms a sum, relative to norms, in 2^-bits, its guard bits counted:
 * (C5). */
double radius_product(size_t k);

/* Nothing is known from here on. */
void radius_lose(Radius *r);

/* Does a row see no other key in A in any head? */
bool radius_alone(const Radius *r, const Bundle *bundle, size_t row);

/* Is what a sublayer reads of a bank zero exactly, in the limit and as computed: the stream, or its
 * norm (or NULL), whose beta tokens have? */
bool radius_reads_zero(const Radius *r, const LayerNorm *norm, size_t row, int bank);

/* Do columns lie in a bank? */
bool radius_touches(const Radius *r, Columns columns, int bank);

/* The norm of a row's bank of a matrix, in 2^unit, to the rounding of a double. */
double radius_bank_norm(const Radius *r, const ApMat *x, size_t row, int bank, mpfr_exp_t unit);

#endif
