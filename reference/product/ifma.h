/*
 * Products of 52-bit digits (private to ifma.c, ifma_block.c and ifma_pack.c).
 *
 * A matrix of unsigned fractions alpha = 0.d_0 d_1 ... in base 2^52.  The product of digits i and j
 * goes to columns i + j + 1 (its high half) and i + j + 2 (its low half); column w has the weight
 * 2^(-52 w), and column 0 takes what overflows.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_H

#include "entry.h"

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

/* Lines [first, first + lanes) of an operand.  by_digit: an entry's digits lie IFMA_LANES apart,
 * and lanes is IFMA_LANES.  fits: alpha is exact in `digits` digits. */
typedef struct {
    const Operand *operand;
    size_t first, lanes, digits;
    bool by_digit, fits;
} IfmaPacking;

/* The lines' alphas, [depth][lanes][digits] or, by_digit, [depth][digits][lanes]; sum[i][1 + d] is
 * the sum of digit d of line first + i, carried, columns as above.  Lines beyond the last are copies
 * of it. */
void ifma_pack(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p);

/* entry_digits of 52 bits of IFMA_LANES entries: out [count][lane]. */
void ifma_digits(uint64_t (*out)[IFMA_LANES], size_t count, const Entry *x, const mpfr_exp_t *lead);

/* tile += sum over `depth` terms of the products of a's and b's digits: all of them, or without
 * what falls more than `kept` columns after the block's first, or part of that. */
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
