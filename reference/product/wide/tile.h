/*
 * Products of 52-bit digits, a tile of C at a time (private to reference/product/wide/).
 *
 * A matrix of unsigned fractions alpha = 0.d_0 d_1 ... in base 2^52.  The product of digits i and j
 * goes to columns i + j + 1 (its high half) and i + j + 2 (its low half); column w has the weight
 * 2^(-52 w), and column 0 takes what overflows.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_TILE_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_TILE_H

#include "words.h"

#include "../../numbers/tier.h"

/* A tile of C is TILE_ROWS x LANES.  Columns of a tile's sums: those kept and the reach of one
 * block beyond. */
enum { TILE_COLUMNS = 2 * OPERAND_DIGITS + 2, TILE_LIMBS = TILE_COLUMNS * DIGIT / 64 + 2 };

/* sum[r][w], w = column, a lane an entry; a TileRow is a column of one row. */
typedef const uint64_t TileRow[LANES];
typedef struct {
    _Alignas(64) uint64_t sum[TILE_ROWS][TILE_COLUMNS][LANES];
} Tile;

/* Columns [0, columns) become 0. */
#define tile_clear TIER(tile_clear)
void tile_clear(Tile *tile, size_t columns);

/* tile += sum over `depth` terms of the products of a's and b's digits, which are factors: all of
 * them, or without what falls `kept` columns or more after the block's first, or part of that. */
#define tile_multiply TIER(tile_multiply)
void tile_multiply(Tile *tile, Digits a, Digits b, size_t depth, size_t kept);

/* Columns [1, columns) become digits below 2^52; column 0 takes what is carried out. */
#define tile_carry TIER(tile_carry)
void tile_carry(Tile *tile, size_t columns);

/* A tile as it is stored: limb i of entry (r, lane) is limb[r][i][lane], the least significant
 * first; bit `lane` of negative[r] is its sign. */
typedef struct {
    _Alignas(64) uint64_t limb[TILE_ROWS][TILE_LIMBS][LANES];
    unsigned negative[TILE_ROWS];
} TileResult;

/* result = tile - a_correction[r][w] - b_correction[w][lane], columns [0, columns). */
#define tile_finish TIER(tile_finish)
void tile_finish(TileResult *result, Tile *tile, size_t columns,
                 const int64_t (*a_correction)[TILE_COLUMNS], const int64_t *b_correction);

#endif
