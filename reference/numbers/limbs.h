/*
 * Sums, differences and products of single numbers (private to reference/): those of
 * MPFR, rounded to nearest, bit by bit, without what an MPFR call of any precision costs.
 *
 *     y = a + b,   a - b,   a b     each the exact one rounded once, ties to even,
 *
 * as mpfr_add(y, a, b, MPFR_RNDN) and so on give it, which are called for what is not done here:
 * numbers of parts of a limb, of more than 4 limbs, zeros, and what is not finite.  Two
 * things differ: the inexact flag is not set, and results of exponents within +-2^60 are
 * not held against the thread's range, which in the reference is MPFR's widest.
 *
 * y may be a or b.
 *
 * Umbrella header: for limbs_divide.c, too.
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_LIMBS_H
#define HEADPROOF_REFERENCE_NUMBERS_LIMBS_H

#include <mpfr.h>
#include <stdbool.h>

void limbs_add(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
void limbs_sub(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
void limbs_mul(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);

/* y = a, -|a|, rounded. */
void limbs_set(mpfr_ptr y, mpfr_srcptr a);
void limbs_below_zero(mpfr_ptr y, mpfr_srcptr a);

/* a > b, as mpfr_cmp has it. */
bool limbs_greater(mpfr_srcptr a, mpfr_srcptr b);

/* y = a double, rounded. */
void limbs_set_d(mpfr_ptr y, double d);

/* y = a / b, as mpfr_div has it, the same way. */
void limbs_div(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);

#endif
