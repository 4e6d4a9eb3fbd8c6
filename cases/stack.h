/*
 * The sublayers of T and of T' while a case is built (private to cases/).
 *
 * A construction is a function that appends one layer to both.  All pointers into weights belong
 * to the pair's arena.
 */
#ifndef HEADPROOF_CASES_STACK_H
#define HEADPROOF_CASES_STACK_H

#include "arena.h"
#include "case.h"

struct Stack {
    const CaseSpec *spec;
    Arena *arena;
    bool outline;                   /* shapes only: no tensor is drawn */
    bool numbers;                   /* a layer is filled once more: its numbers alone are wanted */
    bool damaged;                   /* T_infinity is no longer what the weights say */
    double entries;                 /* of 2 Omega in T' so far; a double: no overflow */
    const unsigned char *listed;    /* [n, n] T's mask, once a layer has asked for it */
    const signed char *pseudo;      /* [rows, rows] and T''s */
    Sublayer *original, *converted; /* capacity: 2 and 4 a layer */
    size_t original_count, converted_count;
    const Rotary *rotary;                   /* of attention's heads, or NULL */
    GivenLayer *layers;                     /* [depth], which copies go into; or NULL */
    bool beside;                            /* the part being built reads what the one before did */
    LayerNorm norm;                         /* of the layer part being built (norm.c) */
    bool original_normed, converted_normed; /* the next sublayer reads through it */
    Columns compared, cleared;              /* of the layer being built */
};

/* The bank of columns of the classical stream, and the hidden bank behind it. */
Columns stack_content(const Stack *stack);
Columns stack_hidden(const Stack *stack);

/* w [count] times the case's score_scale, rounded; w itself where that is 1, or w is NULL. */
const double *stack_scaled(Stack *stack, const double *w, size_t count);

/* The number, which is T''s own and no weight of the original, [count] times; NULL for 0. */
const double *stack_repeated(Stack *stack, double number, size_t count);

/* The rows that a row of T' sees, which has T's mask as a mask, or none. */
Visible stack_visible(const Stack *stack);

/* [heads, rows, columns], row-major; ld: the leading dimension, columns beyond are zero; 0: as many
 * as columns. */
typedef struct {
    size_t heads, rows, columns, ld;
} TensorShape;

/* Drawn tensors: fl(raw * fl(scale)), raw a draw of "blocks.LAYER.NAME" (layer from 0). */
const double *stack_draw(Stack *stack, size_t layer, const char *name, TensorShape shape,
                         double scale);

/* The same for a tensor of any name. */
double *draw_tensor(Arena *arena, const CaseSpec *spec, const char *name, TensorShape shape,
                    double scale);

/* The streams of T and of T', and the hidden columns of the latter. */
Layout case_original_layout(const CaseSpec *spec);
Layout case_converted_layout(const CaseSpec *spec);
size_t case_hidden_columns(const CaseSpec *spec);

#endif
