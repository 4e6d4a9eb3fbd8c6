/*
 * Blocks of rows of a head with bilinear scores (private to reference/radius/): their outputs y,
 * and the products of those with the keys' values, are products of matrices.
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_BLOCK_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_BLOCK_H

#include "bilinear.h"

/* Rows of a block, at most. */
enum { HEAD_ROWS = 64 };

/* Of a row: the first key that it sees, and how many there are up to the last; how many it sees of
 * these, and which is heaviest, from the first on. */
typedef struct {
    size_t first, count, seen, heaviest;
    double total; /* of e^(score - top) */
} Keys;

/* A block of rows.  What is of one row (high, off, w) is that of the last that was asked for. */
typedef struct {
    const HeadAt *head;
    const Radius *r;
    RowRange rows;
    size_t first, end;       /* keys that some row sees, and those between */
    bool products;           /* of matrices are in y, c, value, key */
    double *p, *value, *key; /* [HEAD_ROWS, rows] weights; v.y and k.c, then |v - y| and |k - c| */
    double *y, *c;           /* [HEAD_ROWS, width] */
    Keys *keys;              /* [HEAD_ROWS] */
    RowSum *sum;             /* [HEAD_ROWS] */
    double *high, *off, *w;  /* [rows] */
    double *product[3];      /* scratch of M */
} HeadBlock;

/* A thread's scratch for a block.  False: memory is short. */
bool head_block_open(HeadBlock *block, const HeadAt *head, const Radius *r)
    __attribute__((warn_unused_result));
void head_block_clear(HeadBlock *block);

/* Some rows, at most HEAD_ROWS: what the scores' part of their sums is, weights, and products. */
void head_block_set(HeadBlock *block, RowRange rows);

/* A row sees all keys that are visible, in the limit those of A. */
static inline bool head_sees(const HeadAt *head, int gap)
{
    return gap == 0 || (gap > 0 && !head->at->limit);
}

#endif
