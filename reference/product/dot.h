/*
 * Products by dot products of limbs (private to reference/product/): for sizes where measuring
 * and packing operands would cost more than multiplying them.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_DOT_H
#define HEADPROOF_REFERENCE_PRODUCT_DOT_H

#include "guard.h"

/* C (+)= A B.  False, and C untouched, where an entry is not finite or beyond
 * EXPONENT_LIMIT. */
bool dot_mul(const Plan *plan) __attribute__((warn_unused_result));

/* Limbs of the window that an entry of C is summed in. */
size_t dot_limbs(const Plan *plan);

#endif
