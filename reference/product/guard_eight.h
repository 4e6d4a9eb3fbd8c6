/*
 * Guards of eight entries of C at a time (private to guard.c).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_GUARD_EIGHT_H
#define HEADPROOF_REFERENCE_PRODUCT_GUARD_EIGHT_H

#include "guard.h"

/* What the entries of row i of C have in common. */
typedef struct {
    size_t i;
    double from_a, from_b; /* the sum of A's line, and what B's sums are multiplied by: 1 or 0 */
    double scale;          /* of what an entry needs */
    double weak;           /* sums of magnitudes below this lack too much, where a line is spread */
} GuardRow;

/* Sets the guards of entries (i, 0) to (i, n - 1), n a multiple of 8, from their sums of
 * magnitudes, and adds the weak ones to *weak.  Returns n: the row's columns without a remainder,
 * or 0 on another CPU. */
size_t guard_eights(const Plan *plan, const GuardRow *row, const float *s, size_t *weak)
    __attribute__((warn_unused_result));

#endif
