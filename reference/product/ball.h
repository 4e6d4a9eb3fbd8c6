/*
 * Products by Arb, where FLINT is built in (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_BALL_H
#define HEADPROOF_REFERENCE_PRODUCT_BALL_H

#include "guard.h"

bool ball_has(void);

void ball_mul(const Plan *plan);

#endif
