/*
 * Sublayers appended to T and to T' (private to cases/).
 *
 * Umbrella header: for damage.c, too: what dropout, a lost entry and noise make of T'.
 */
#ifndef HEADPROOF_CASES_APPEND_H
#define HEADPROOF_CASES_APPEND_H

#include "stack.h"

/* One sublayer: an operation or heads to T, bundles to T'. */
void append_direct(Stack *stack, Direct direct);
void append_heads(Stack *stack, Bundle bundle);
void append_converted(Stack *stack, const Bundle *bundles, size_t count);

/* A norm as a sublayer of its own, the same in T and T'. */
void append_norm(Stack *stack, const LayerNorm *norm);

/* Those of T', in as many sublayers, as the same function with other coefficients of Omega
 * (Pair.negative). */
const Sublayer *append_penalties(const Stack *stack);

/* Dropout and noise, done to the bundles of the next sublayer of T'. */
void damage_bundles(Stack *stack, Bundle *bundles, size_t count);

/* Noise, done to a norm of T' that its next sublayer reads through. */
void damage_norm(Stack *stack, LayerNorm *norm);

#endif
