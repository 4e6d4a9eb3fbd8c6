/*
 * The services of this room's sources for each other, in one tier (private to
 * reference/product/wide/): the functions of WideOperations (../wide.h).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_WIDE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_WIDE_H

#include "../../numbers/tier.h"
#include "../wide.h"

#define wide_rows TIER(wide_rows)
WideRows wide_rows;
#define wide_measure TIER(wide_measure)
WideMeasure wide_measure;
#define wide_guards TIER(wide_guards)
WideGuards wide_guards;
#define wide_multiply TIER(wide_multiply)
WideMultiply wide_multiply;
#define wide_exp TIER(wide_exp)
WideExp wide_exp;
#define wide_exp_row TIER(wide_exp_row)
WideExpRow wide_exp_row;
#define wide_reduce TIER(wide_reduce)
WideReduce wide_reduce;
#define wide_split TIER(wide_split)
WideSplit wide_split;

#endif
