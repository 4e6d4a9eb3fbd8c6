/*
 * Rows of a tile of C from sums of digits to MPFR numbers, eight entries at once (private to
 * reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_ROW_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_ROW_H

#include "ifma_store.h"

/* Columns of a tile, of one that is added, and limbs of C, at most. */
enum { IFMA_ROW_COLUMNS = 10, IFMA_SUM_COLUMNS = 8, IFMA_ROW_LIMBS = 4 };

/* Are rows of tiles of so many columns stored, or added, by ifma_store_row? */
static inline bool ifma_stores_rows(const Plan *plan, size_t columns, bool add)
{
    mpfr_prec_t bits = mpfr_get_prec(plan->c.entry);
    return columns <= (add ? IFMA_SUM_COLUMNS : IFMA_ROW_COLUMNS) && bits % 64 == 0 &&
           bits <= 64 * IFMA_ROW_LIMBS;
}

/* Stores row r of a tile, which stays as it is, each entry rounded once, whatever C was; or adds it
 * to C, the sum rounded once.  Returns a bit for each lane that is done.  The others, and rows of
 * some shapes altogether, are left to ifma_finish and store_integer: what is 0 or cancels, what the
 * plan leaves to the loop, exponents near an end of MPFR's range; and all lanes of a sum where one
 * is left, or C is 0 or not a plain number there. */
unsigned ifma_store_row(const Store *store, const IfmaTile *tile, const IfmaPlace *at, size_t r,
                        bool add) __attribute__((warn_unused_result));

#endif
