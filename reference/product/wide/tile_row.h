/*
 * Rows of a tile of C from sums of digits to MPFR numbers, LANES entries at once (private to
 * reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_TILE_ROW_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_TILE_ROW_H

#include "tile_store.h"

/* Stores a row of a tile, whose sums stay as they are, each entry rounded once, whatever C was; or
 * adds it to C, the sum rounded once.  Returns a bit for each lane that is done.  The others, and
 * rows of some shapes altogether, are left to tile_finish and store_integer: what is 0 or cancels,
 * what the plan leaves to the loop, exponents near an end of MPFR's range; and all lanes of a sum
 * where one is left, or C is 0 or not a plain number there. */
#define tile_store_row TIER(tile_store_row)
unsigned tile_store_row(const TileRow *sum, const TilePlace *row, bool add)
    __attribute__((warn_unused_result));

#endif
