/*
 * Tiles of C, from sums of digits to MPFR numbers (private to reference/product/; x86-64 alone).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_STORE_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_STORE_H

#include "ifma_block.h"
#include "store.h"

/* A tile, and room for what becomes of it. */
typedef struct {
    IfmaTile tile;
    IfmaResult result;
} IfmaWorkspace;

/* Which tile it is: its first entry is (i, j); its columns and corrections, as ifma_finish takes
 * them. */
typedef struct {
    const Plan *plan;
    size_t i, j;
    size_t columns;
    const int64_t (*a_correction)[IFMA_COLUMNS], *b_correction;
} IfmaPlace;

/* Asks for C's entries before the tile is multiplied: they are not in the cache. */
void ifma_fetch_tile(const IfmaPlace *at);

/* Stores the tile's entries, rounded once each.  The tile is overwritten. */
void ifma_store_tile(Store *store, IfmaWorkspace *work, const IfmaPlace *at);

#endif
