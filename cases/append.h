/*
 * Sublayers appended to T and to T' (private to cases/).
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

#endif
