/*
 * Entries of operands as 52-bit digits (private to reference/product/wide/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_WIDE_PACK_H
#define HEADPROOF_REFERENCE_PRODUCT_WIDE_PACK_H

#include "../entry.h"
#include "tile.h"

/* Lines [first, first + lanes) of an operand.  by_digit: an entry's digits lie LANES apart,
 * and lanes is LANES.  fits: alpha is exact in `digits` digits. */
typedef struct {
    const Operand *operand;
    size_t first, lanes, digits;
    bool by_digit, fits;
} Packing;

/* The line of a lane; lines beyond the last are copies of it. */
static inline size_t packed_line(const Packing *p, size_t lane)
{
    size_t wanted = p->first + lane;
    return wanted < p->operand->lines ? wanted : p->operand->lines - 1;
}

/* sum [lanes][1 + digits] = 0. */
static inline void clear_sums(int64_t (*sum)[TILE_COLUMNS], const Packing *p)
{
    for (size_t lane = 0; lane < p->lanes; lane++) {
        memset(sum[lane], 0, (p->digits + 1) * sizeof **sum);
    }
}

/* Positions after which sums of digits are carried; sum [1 + digits], carried. */
enum { CARRY_EVERY = 1024 };
static inline void carry_sums(int64_t *sum, size_t digits)
{
    for (size_t w = digits + 1; w-- > 1;) {
        sum[w - 1] += sum[w] >> DIGIT;
        sum[w] &= (int64_t)DIGIT_MASK;
    }
}

/* The lines' alphas as factors, [depth][lanes][digits] or, by_digit, [depth][digits][lanes];
 * sum[i][1 + d] is the sum of digit d of line first + i, carried, columns as in tile.h.  Lines
 * beyond the last are copies of it. */
#define pack_lines TIER(pack_lines)
void pack_lines(uint64_t *out, int64_t (*sum)[TILE_COLUMNS], const Packing *p);

#endif
