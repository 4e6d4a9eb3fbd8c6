/*
 * The coefficients of Omega in T', written as penalties (private to cases/).
 */
#ifndef HEADPROOF_CASES_PENALTY_H
#define HEADPROOF_CASES_PENALTY_H

#include "stack.h"

/* Turns bundles of T' into the same function with other coefficients of Omega (Pair.negative). */
void penalty_make_negative(Stack *stack, Bundle *bundles, size_t count);

#endif
