/*
 * Umbrella header: the parts that constructions are made of (private to cases/).
 *
 * A construction puts together parts of others, so all of them are here, each with the file that
 * it is in.  The bundles of heads are docs/mathematics.md, section 1, one function each.
 */
#ifndef HEADPROOF_CASES_CONSTRUCT_H
#define HEADPROOF_CASES_CONSTRUCT_H

#include "activation.h"
#include "append.h"
#include "norm.h"
#include "stack.h"

/* Appends the sublayer of T' that applies the case's activation to the columns (silu.c). */
void silu_append(Stack *stack, Columns columns);

/* A self-attending head carrying x[write] += x[read] w1 + b1; diagonal as in Value; w1 NULL: b1
 * alone, with a diagonal of 0 (linear.c). */
Bundle linear_head(const Direct *map, int diagonal, Visible visible);

/* Appends the sublayer of T' for that, in as many heads as the case's head_rank asks. */
void linear_append(Stack *stack, const Direct *map, int diagonal);

/* The original attention heads of a layer, drawn or given (attention.c). */
Bundle attention_heads(Stack *stack, size_t layer);

/* The tables of rotary positions, NULL without; in an outline no numbers (attention.c). */
const Rotary *rotary_make(const Stack *stack);

/* T's sublayer for a layer's feed-forward network, its weights drawn or given (ffn.c). */
Direct ffn_weights(Stack *stack, size_t layer);

/* One head a hidden unit, for one term of the activation of x W1 + b1, times W2 (fused.c). */
Bundle fused_heads(Stack *stack, const Direct *ffn, Term term, Visible visible);

/* Appends the sublayers of T' for a gated network whose product is read out (gated.c). */
void gated_append(Stack *stack, const Direct *ffn);

/* T's mask on its attention heads, and what T' has of it. */
void mask_original(Stack *stack, Score *score);
void mask_converted(Stack *stack, Score *score);

/* May token i attend to token j? */
bool mask_allows(const CaseSpec *spec, size_t i, size_t j);

/* Entries of Omega that a pseudo-mask has in a head: the keys that tokens may see; else 0. */
double mask_entries(const CaseSpec *spec);

#endif
