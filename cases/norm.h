/*
 * The norms of a layer's parts (private to cases/).
 */
#ifndef HEADPROOF_CASES_NORM_H
#define HEADPROOF_CASES_NORM_H

#include "stack.h"

/* A part of a layer of T: attention (or a linear map, an activation), the feed-forward network. */
typedef enum { PART_FIRST, PART_FFN } LayerPart;

/* Opens a part whose norm is over the columns.  Before it, its norm is what the part's sublayer of
 * T and its first one of T' read through. */
void norm_open(Stack *stack, size_t layer, LayerPart part, Columns columns);

/* The part's next sublayer of T' reads through the norm too: of columns that none has written. */
void norm_again(Stack *stack);

/* Closes it.  Behind it, its norm is a sublayer of its own, the same in T and T'. */
void norm_close(Stack *stack);

/* The norm before the unembedding, of pre-norm models: drawn, or given if there is one. */
LayerNorm norm_final(Stack *stack);

#endif
