/*
 * Eight numbers at once (private to lanes.c and lanes_eight.c).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_LANES_EIGHT_H
#define HEADPROOF_REFERENCE_PRODUCT_LANES_EIGHT_H

#include "lanes.h"

#include <stdbool.h>

typedef enum { LANES_ADD, LANES_SUB, LANES_MUL, LANES_DIV, LANES_ADD_MUL } LanesOperation;

/* y = a operation b, and scratch of y's precision. */
typedef struct {
    LanesOperation operation;
    mpfr_ptr y;
    Numbers a, b;
    mpfr_ptr t;
} LanesRow;

/* Entries [first, first + count) of a row, one by one. */
typedef void LanesRest(const LanesRow *row, size_t first, size_t count);

/* Entries [0, count), count >= 8, eights of them at once.  By `rest`: those of an eight in which a
 * number is not plain, or a quotient is next to a tie.  false, and nothing done: not on this CPU,
 * or not of these precisions. */
bool lanes_eights(const LanesRow *row, size_t count, LanesRest *rest)
    __attribute__((warn_unused_result));

#endif
