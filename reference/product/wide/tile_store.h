/*
 * Tiles of C, from sums of digits to MPFR numbers (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_TILE_STORE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_TILE_STORE_H

#include "../store.h"
#include "tile.h"

/* A tile, and room for what becomes of it. */
typedef struct {
    Tile tile;
    TileResult result;
} TileWorkspace;

/* Which tile it is, or which row of one: its first entry is (i, j); its columns and corrections, as
 * tile_finish takes them. */
typedef struct {
    const Plan *plan;
    Range range;
    size_t i, j;
    size_t columns;
    const int64_t (*a_correction)[TILE_COLUMNS], *b_correction;
} TilePlace;

/* Asks for C's entries before the tile is multiplied: they are not in the cache. */
#define tile_fetch TIER(tile_fetch)
void tile_fetch(const TilePlace *at);

/* Stores the tile's entries, rounded once each.  The tile is overwritten. */
#define tile_store TIER(tile_store)
void tile_store(TileWorkspace *work, const TilePlace *at);

#endif
