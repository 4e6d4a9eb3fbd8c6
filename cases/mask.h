/*
 * Masks of T, and what T' has of them (private to cases/).
 */
#ifndef HEADPROOF_CASES_MASK_H
#define HEADPROOF_CASES_MASK_H

#include "stack.h"

/* T's mask on its attention heads, and what T' has of it. */
void mask_original(Stack *stack, Score *score);
void mask_converted(Stack *stack, Score *score);

#endif
