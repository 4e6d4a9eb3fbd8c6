/*
 * Eight integers rounded at once to limbs of MPFR numbers (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_ROUND_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_ROUND_H

#include "ifma_block.h"
#include "store.h"

#include <gmp.h>
#include <mpfr.h>

/* Limbs of the results, at most. */
enum { IFMA_ROUND_LIMBS = 8 };

/* The integer of limb[i][lane], the least significant limb first, rounded to `precision` bits, ties
 * to even, is 0.limbs 2^exponent[lane]; the limbs go to to[lane].  precision <= 64
 * IFMA_ROUND_LIMBS.  Returns a bit a lane: done.  It is not where the two highest limbs are 0. */
unsigned ifma_round(int64_t *exponent, mp_limb_t *const *to, const uint64_t (*limb)[IFMA_LANES],
                    size_t limbs, mpfr_prec_t precision);

/* Eight integers, as above, of a row of C: times 2^(unit + exponent[lane]), bit `lane` of negative
 * their signs. */
typedef struct {
    const uint64_t (*limb)[IFMA_LANES];
    size_t limbs;
    unsigned negative;
    mpfr_exp_t unit;
    const mpfr_exp_t *exponent;
    Range range;
} IfmaRow;

/* to[lane] = that, rounded; `to` are neighbours in a matrix.  False, and nothing done: one is 0 or
 * so small that its two highest limbs are, or near an end of the range, its column LINE_ZERO, or
 * the entries are not of few whole limbs, one behind the other. */
bool ifma_round_row(mpfr_ptr to, const IfmaRow *row) __attribute__((warn_unused_result));

#endif
