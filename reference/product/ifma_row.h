/*
 * Rows of a tile of C from sums of digits to MPFR numbers, eight entries at once (private to
 * ifma_store.c and ifma_row.c).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_IFMA_ROW_H
#define HEADPROOF_REFERENCE_PRODUCT_IFMA_ROW_H

#include "ifma_store.h"

/* Stores row r of a tile, which stays as it is, each entry rounded once, whatever C was; returns a bit for each
 * lane that is done.  The others, and rows of some shapes altogether, are left to ifma_finish and
 * store_integer: what is 0 or cancels, what the plan leaves to the loop, exponents near an end of
 * MPFR's range. */
unsigned ifma_store_row(const Store *store, const IfmaTile *tile, const IfmaPlace *at, size_t r)
    __attribute__((warn_unused_result));

#endif
