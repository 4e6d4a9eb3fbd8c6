/*
 * The parts constructions are made of (private to cases/).
 *
 * A Stack collects the sublayers of T and of T' while a case is built.  A construction is a
 * function that appends one layer to both; the bundles are docs/mathematics.md, section 1,
 * one function each.  All pointers into weights belong to the pair's arena.
 */
#ifndef HEADPROOF_CASES_CONSTRUCT_H
#define HEADPROOF_CASES_CONSTRUCT_H

#include "arena.h"
#include "case.h"

struct Stack {
    const CaseSpec *spec;
    Arena *arena;
    bool outline;                   /* shapes only: no tensor is drawn */
    bool failed;                    /* memory was short: every later step is a no-op */
    bool damaged;                   /* T_infinity is no longer what the weights say */
    double entries;                 /* of 2 Omega in T' so far; a double: no overflow */
    const unsigned char *listed;    /* [n, n] T's mask, once a layer has asked for it */
    const signed char *pseudo;      /* [rows, rows] and T''s */
    Sublayer *original, *converted; /* capacity: 2 and 4 a layer */
    size_t original_count, converted_count;
    Columns compared, cleared; /* of the layer being built */
};

/* The bank of columns of the classical stream, and the hidden bank behind it. */
Columns stack_content(const Stack *stack);
Columns stack_hidden(const Stack *stack);

/* Zeroed doubles; NULL when memory was short. */
double *stack_take(Stack *stack, size_t count, size_t each);

/* w [count] times the case's score_scale, rounded; w itself where that is 1, or w is NULL. */
const double *stack_scaled(Stack *stack, const double *w, size_t count);

/* What rows see where T' has T's mask as a mask, or none. */
Visible stack_visible(const Stack *stack);

/* Appends one sublayer: an operation to T, or bundles to T'. */
void stack_original_direct(Stack *stack, Direct direct);
void stack_original_heads(Stack *stack, Bundle bundle);
void stack_converted(Stack *stack, const Bundle *bundles, size_t count);

/* Drawn tensors, [heads, rows, columns] row-major: fl(raw * fl(scale)), raw a draw of
 * "blocks.LAYER.NAME" (layer from 0).  NULL when memory was short. */
const double *stack_draw(Stack *stack, size_t layer, const char *name, size_t heads, size_t rows,
                         size_t columns, double scale);

/* The streams of T and of T', and the hidden columns of the latter (layout.c). */
Layout case_original_layout(const CaseSpec *spec);
Layout case_converted_layout(const CaseSpec *spec);
size_t case_hidden_columns(const CaseSpec *spec);

/* T's mask on its attention heads, and what T' has of it (mask.c). */
void mask_original(Stack *stack, Score *score);
void mask_converted(Stack *stack, Score *score);

/* What dropout and noise make of the bundles of the next sublayer of T' (damage.c). */
void damage_bundles(Stack *stack, Bundle *bundles, size_t count);

/* The same for a tensor of any name, with leading dimension ld (columns beyond are zero). */
double *draw_tensor(Arena *arena, uint64_t seed, const char *name, size_t heads, size_t rows,
                    size_t columns, size_t ld, double scale);

/* An activation as a sum of terms value * x sigma(gate x), a bundle of heads each
 * (activation.c). */
typedef struct {
    double gate, value;
} Term;

enum { TERMS_MOST = 2 };

typedef struct {
    size_t count;
    Term term[TERMS_MOST];
} Terms;

Terms activation_terms(const CaseSpec *spec);

/* The SiLU heads of the given columns, one head a column, for one term (silu.c). */
Bundle silu_heads(Columns columns, Term term, Visible visible);

/* Appends the sublayer of T' that applies the case's activation to the columns. */
void silu_append(Stack *stack, Columns columns);

/* A self-attending head carrying x[write] += x[read] W + b; diagonal as in Value (linear.c). */
Bundle linear_head(Columns read, Columns write, const double *w, const double *b, int diagonal,
                   Visible visible);

/* Appends the sublayer of T' for that, in as many heads as the case's head_rank asks. */
void linear_append(Stack *stack, Columns read, Columns write, const double *w, const double *b,
                   int diagonal);

/* The original attention heads of a layer, drawn or given; and the same with the position scores that
 * keep tokens and bias row apart (attention.c). */
Bundle attention_heads(Stack *stack, size_t layer);
Bundle attention_patched(Stack *stack, Bundle heads);

/* One head a hidden unit, for one term of the activation of x W1 + b1, times W2; W1 [d, hidden],
 * W2 [hidden, d] (fused.c). */
Bundle fused_heads(const Direct *ffn, Term term, Visible visible);

/* T's sublayer for a layer's feed-forward network, its weights drawn or given (ffn.c). */
Direct ffn_weights(Stack *stack, size_t layer);

/* T' sublayers of a feed-forward network: three, or one (ffn3.c, fused.c). */
void ffn3_append(Stack *stack, const Direct *ffn);
void fused_append(Stack *stack, const Direct *ffn);

#endif
