/*
 * Entries of operands as 52-bit digits (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_PACK_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_PACK_H

#include "entry.h"
#include "ifma_block.h"

/* Lines [first, first + lanes) of an operand.  by_digit: an entry's digits lie IFMA_LANES apart,
 * and lanes is IFMA_LANES.  fits: alpha is exact in `digits` digits. */
typedef struct {
    const Operand *operand;
    size_t first, lanes, digits;
    bool by_digit, fits;
} IfmaPacking;

/* The lines' alphas, [depth][lanes][digits] or, by_digit, [depth][digits][lanes]; sum[i][1 + d] is
 * the sum of digit d of line first + i, carried, columns as in ifma_block.h.  Lines beyond the last
 * are copies of it. */
void ifma_pack(uint64_t *out, int64_t (*sum)[IFMA_COLUMNS], const IfmaPacking *p);

/* entry_digits of 52 bits of IFMA_LANES entries: out [count][lane]. */
void ifma_digits(uint64_t (*out)[IFMA_LANES], size_t count, const Entry *x, const mpfr_exp_t *lead);

#endif
