/*
 * Numbers in fixed point, for exponentials of single ones (private to reference/).
 *
 * Umbrella header: what exponentials.c and erfc.c share.
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_FIXED_H
#define HEADPROOF_REFERENCE_NUMBERS_FIXED_H

#include "ap.h"

struct ApExp {
    size_t limbs;     /* of fractions, at most */
    size_t root;      /* squared, it is beyond the terms of exp(s) */
    mp_limb_t *table; /* [STEPS][TABLE][limbs + 1], with an integer limb; NULL: none was needed */
    mp_limb_t *ln2;   /* [limbs + 1] */
    mp_limb_t *power; /* [root + 1][limbs] of s */
    mp_limb_t *wide;  /* a product; and two numbers of erfc's, which have three times the bits: */
    mp_limb_t *rest, *sum;
    mpfr_t ratio, square, factor; /* 2 / sqrt(pi); erfc's */
};

/* Fills the tables, which evaluations of a few vectors do not need. */
void fixed_need_tables(ApExp *e);

/* Whole limbs for so many bits. */
size_t fixed_limbs(double bits);

/* Are there tables for y = f(x), y of so many bits, |x| a number below 2^most, and 2^(2^21) in
 * MPFR's range? */
bool fixed_can(const ApExp *e, mpfr_srcptr x, mpfr_exp_t most, mpfr_prec_t bits);

/* y [limbs + integers] = |x|, cut off; x below 2^(64 integers). */
void fixed_of(mp_limb_t *y, size_t limbs, size_t integers, mpfr_srcptr x);

/* x = limb [count] 2^unit, which is not 0; the limbs are x's from now on. */
void fixed_to(mpfr_ptr x, mp_limb_t *limb, size_t count, long unit);

/* out [na + nb - drop] = a b without its lowest limbs; out may be a or b. */
void fixed_multiply(ApExp *e, mp_limb_t *out, const mp_limb_t *a, size_t na, const mp_limb_t *b,
                    size_t nb, size_t drop);

#endif
