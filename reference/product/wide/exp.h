/*
 * Exponentials of LANES numbers (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_EXP_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_EXP_H

#include "words.h"

#include "../../numbers/tier.h"
#include "../vexp_lanes.h"

_Static_assert(VEXP_LANES % LANES == 0, "lanes are done in whole vectors");

/* Digits of exponentials that are faster so than one by one, at most. */
enum { EXP_DIGITS = LANES > 2 ? VEXP_DIGITS : 5 };

/* Lanes [first, first + LANES), as wide_exp does all of them; between products_begin and
 * products_end. */
#define exp_lanes TIER(exp_lanes)
void exp_lanes(ExpLanes *lanes, size_t first, const ExpTables *tables);

#endif
