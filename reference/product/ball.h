/*
 * Products by Arb, where FLINT is built in (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_BALL_H
#define HEADPROOF_REFERENCE_PRODUCT_BALL_H

#include "guard.h"

bool ball_has(void);

bool ball_mul(const Plan *plan) __attribute__((warn_unused_result));

#endif
