/*
 * Products of 52-bit digits, a tile of C at a time (private to reference/product/).
 *
 * A matrix of unsigned fractions alpha = 0.d_0 d_1 ... in base 2^52.  The product of digits i and j
 * goes to columns i + j + 1 (its high half) and i + j + 2 (its low half); column w has the weight
 * 2^(-52 w), and column 0 takes what overflows.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_BLOCK_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tile of C is ROWS x LANES; digits are multiplied in blocks of up to BLOCK by BLOCK. */
enum { IFMA_ROWS = 4, IFMA_LANES = 8, IFMA_BLOCK = 5, IFMA_DIGITS = 24 };

/* Columns of a tile's sums: those kept and the reach of one block beyond. */
enum { IFMA_COLUMNS = 2 * IFMA_DIGITS + 2, IFMA_LIMBS = IFMA_COLUMNS * 52 / 64 + 2 };

#define IFMA_MASK (((uint64_t)1 << 52) - 1)

/* sum[r][w], w = column, of 8 lanes each. */
typedef struct {
    _Alignas(64) uint64_t sum[IFMA_ROWS][IFMA_COLUMNS][IFMA_LANES];
} IfmaTile;

/* Digits [first, first + count) of an operand: a is [depth][IFMA_ROWS][digits], b is
 * [depth][digits][IFMA_LANES]. */
typedef struct {
    const uint64_t *digit;
    size_t digits, first, count;
} IfmaDigits;

/* Does the CPU have AVX-512 IFMA? */
bool ifma_has(void);

/* Columns of its own that a block of na x nb digits makes where `kept` are wanted: as many as the
 * longer one has, one more, or all. */
static inline size_t ifma_block_columns(size_t na, size_t nb, size_t kept)
{
    size_t most = na > nb ? na : nb;
    return kept <= most ? most : kept == most + 1 ? kept : na + nb;
}

/* Columns [0, columns) become 0. */
void ifma_clear(IfmaTile *tile, size_t columns);

/* tile += sum over `depth` terms of the products of a's and b's digits: all of them, or without
 * what falls `kept` columns or more after the block's first, or part of that. */
void ifma_block(IfmaTile *tile, IfmaDigits a, IfmaDigits b, size_t depth, size_t kept);

/* Columns [1, columns) become digits below 2^52; column 0 takes what is carried out. */
void ifma_carry(IfmaTile *tile, size_t columns);

/* What is stored of a tile: limb i of entry (r, lane) is limb[r][i][lane], the least significant
 * first; bit `lane` of negative[r] is its sign. */
typedef struct {
    _Alignas(64) uint64_t limb[IFMA_ROWS][IFMA_LIMBS][IFMA_LANES];
    unsigned negative[IFMA_ROWS];
} IfmaResult;

/* result = tile - a_correction[r][w] - b_correction[w][lane], columns [0, columns). */
void ifma_finish(IfmaResult *result, IfmaTile *tile, size_t columns,
                 const int64_t (*a_correction)[IFMA_COLUMNS], const int64_t *b_correction);

#endif
