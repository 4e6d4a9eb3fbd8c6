/*
 * Eight integers rounded at once to limbs of MPFR numbers (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_ROUND_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_ROUND_H

#include "ifma_block.h"

#include <gmp.h>
#include <mpfr.h>

/* Limbs of the results, at most. */
enum { IFMA_ROUND_LIMBS = 8 };

/* The integer of limb[i][lane], the least significant limb first, rounded to `precision` bits, ties
 * to even, is 0.limbs 2^exponent[lane]; the limbs go to to[lane].  precision <= 64
 * IFMA_ROUND_LIMBS.  Returns a bit a lane: done.  It is not where the two highest limbs are 0. */
unsigned ifma_round(int64_t *exponent, mp_limb_t *const *to, const uint64_t (*limb)[IFMA_LANES],
                    size_t limbs, mpfr_prec_t precision);

#endif
