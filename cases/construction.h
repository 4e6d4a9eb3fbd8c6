/*
 * The constructions: one row each of a table, with what the rest of the project asks of it.
 * Umbrella header: a construction's layer, one function, is in the file of its name; `masked` has
 * that of fused.c.
 *
 * A new one is a file of its own (its formula), an entry of the enumeration and the prototype of
 * its layer here, and a row in construction.c.
 */
#ifndef HEADPROOF_CASES_CONSTRUCTION_H
#define HEADPROOF_CASES_CONSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    CONSTRUCTION_SILU,
    CONSTRUCTION_LINEAR,
    CONSTRUCTION_ATTENTION,
    CONSTRUCTION_FFN3,
    CONSTRUCTION_FUSED,
    CONSTRUCTION_TRANSFORMER3,
    CONSTRUCTION_TRANSFORMER,
    CONSTRUCTION_MASKED,
    CONSTRUCTION_COUNT
} Construction;

/* The models as they are built, layer by layer (construct.h). */
typedef struct Stack Stack;

/* One layer of T and of T', layer from 0. */
void silu_layer(Stack *stack, size_t layer);
void linear_layer(Stack *stack, size_t layer);
void attention_layer(Stack *stack, size_t layer);
void ffn3_layer(Stack *stack, size_t layer);
void fused_layer(Stack *stack, size_t layer);
void transformer3_layer(Stack *stack, size_t layer);
void transformer_layer(Stack *stack, size_t layer);

/* What T's layers have, and how T' writes it. */
typedef struct {
    void (*layer)(Stack *stack, size_t layer);
    bool heads;  /* attention */
    bool d_ff;   /* a feed-forward network */
    bool linear; /* a linear map, which moves between two banks of columns or stays in place; both
                         banks are T's too, and X fills them */
    bool activation; /* one that heads imitate: in the limit tokens attend to the bias row, too */
    bool on_x;  /* it acts on X itself: there are no weights, score_scale acts on X, and X cannot
                         be norm(x) */
    bool gated; /* its network may be */
    bool hidden_bank; /* T' has d_ff hidden columns, empty at first, which linear heads fill */
    bool masked;      /* an explicit mask, and no Omega */
} ConstructionInfo;

/* construction < CONSTRUCTION_COUNT. */
const ConstructionInfo *construction_info(Construction construction);

/* Their names, as users write them. */
extern const char *const construction_names[CONSTRUCTION_COUNT];

#endif
