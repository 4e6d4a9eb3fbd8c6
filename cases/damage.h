/*
 * Damage to T': what dropout, a lost entry and noise make of its weights (private to cases/).
 */
#ifndef HEADPROOF_CASES_DAMAGE_H
#define HEADPROOF_CASES_DAMAGE_H

#include "stack.h"

/* Dropout and noise, done to the bundles of the next sublayer of T'. */
void damage_bundles(Stack *stack, Bundle *bundles, size_t count);

/* Noise, done to a norm of T' that its next sublayer reads through. */
void damage_norm(Stack *stack, LayerNorm *norm);

#endif
