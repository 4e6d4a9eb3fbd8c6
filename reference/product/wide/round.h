/*
 * Integers, one a lane, rounded to limbs of MPFR numbers (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_ROUND_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_ROUND_H

#include "tile.h"

/* Limbs of the results, at most. */
enum { ROUND_LIMBS = 8 };

/* The integer of limb[i][lane], the least significant limb first, rounded to `precision` bits, ties
 * to even, is 0.limbs 2^exponent[lane]; the limbs go to to[lane].  precision <= 64
 * ROUND_LIMBS.  Returns a bit a lane: done.  It is not where the two highest limbs are 0. */
#define round_integers TIER(round_integers)
unsigned round_integers(int64_t *exponent, mp_limb_t *const *to, const uint64_t (*limb)[LANES],
                        size_t limbs, mpfr_prec_t precision);

#endif
