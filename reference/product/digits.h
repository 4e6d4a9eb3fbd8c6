/*
 * Products of fractions of 52-bit digits: what they take (private to reference/product/).  wide/
 * does them.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_DIGITS_H
#define HEADPROOF_REFERENCE_PRODUCT_DIGITS_H

#include "guard.h"

/* Bits of a digit; digits are multiplied in blocks of up to BLOCK by BLOCK; digits of an operand,
 * at most. */
enum { DIGIT = 52, BLOCK = 5, OPERAND_DIGITS = 64 };

/* Columns of a tile, of one that is added, and limbs of C, at most, for it to be stored by rows. */
enum { ROW_COLUMNS = 10, ROW_SUM_COLUMNS = 8, ROW_LIMBS = 4 };

/* Digits [first, first + count) of an operand: a is [depth][rows of a tile][digits], b is
 * [depth][digits][lanes]. */
typedef struct {
    const uint64_t *digit;
    size_t digits, first, count;
} Digits;

/* Equal blocks of at most BLOCK digits: [first, first + count) of block number i. */
Digits digits_block(const uint64_t *digit, size_t digits, size_t i);

/* Columns of its own that a block of na x nb digits makes where `kept` are wanted: as many as the
 * longer one has, one more, or all. */
static inline size_t digits_block_columns(size_t na, size_t nb, size_t kept)
{
    size_t most = na > nb ? na : nb;
    return kept <= most ? most : kept == most + 1 ? kept : na + nb;
}

/* The work for a tile of C. */
typedef struct {
    size_t digits_a, digits_b; /* of the operands */
    size_t kept;               /* columns of the product */
    size_t depth;              /* terms between two carries */
    size_t blocks;             /* of digits */
    size_t multiplies;         /* halves of products of digits, a term and row */
} DigitsWork;

/* Where `bits` fraction bits are kept. */
DigitsWork digits_work(const Plan *plan, mpfr_prec_t bits);

/* Does this tier have it, and can it hold numbers of that many fraction bits? */
bool digits_hold(mpfr_prec_t bits_a, mpfr_prec_t bits_b);

/* Are rows of tiles of so many columns stored, or added, at once? */
bool digits_store_rows(const Plan *plan, size_t columns, bool add);

#endif
