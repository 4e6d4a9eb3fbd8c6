/*
 * Matrices of doubles that many products have for B (private to reference/product/): measured the
 * first time, and packed the first time for every number of digits, and then only read.  What a
 * product comes to does not depend on whether there is room for them.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WEIGHTS_H
#define HEADPROOF_REFERENCE_PRODUCT_WEIGHTS_H

#include "operand.h"

#include <stdint.h>

/* The key of B's digits, and of the correction beside them: the other operand's digits and whether
 * it is exact, its own, and how many columns of a product are computed. */
typedef struct {
    size_t digits_a, digits_b, kept;
    bool short_a, short_b;
} PackKey;

/* B packed for wide/tile.c; tile.h says what is in the arrays. */
typedef struct {
    PackKey key;
    uint64_t *digit;
    int64_t *correction;
    double bytes;
    bool kept; /* with the weights: not to be freed */
} Pack;

/* The rows of v, measured: those that are kept, or its own where there is no room for them. */
void kept_operand(Operand *o, ProductWeights *weights, ProductView v, int threads);

/* Makes *pack, whose key is set, for context. */
typedef void PackMaker(Pack *pack, const void *context);

/* *pack, with its key set: the operand's own, or made now, and kept if the operand is and there is
 * room. */
void kept_pack(Pack *pack, const Operand *o, PackMaker *make, const void *context);
void pack_clear(Pack *pack);

#endif
