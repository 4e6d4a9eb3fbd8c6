/*
 * One row of a head with bilinear scores (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROW_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROW_H

#include "bilinear_block.h"

/* A row and its keys, from the first that it sees on: scores and weights at the point; |v - y| and
 * |k - c| at most, of keys that it sees; weights on the path at most, what they may be off, and
 * high times value, 0 of keys that it does not see; the keys' own sides. */
typedef struct {
    const HeadAt *head;
    const Keys *keys;
    RowSum *sum;
    const int *gap;
    const double *score, *p;
    double *value, *key, *y, *c, *high, *off, *w;
    Sides k, v;
} RowKeys;

/* Row i of a block that is set; once. */
RowKeys head_block_row(const HeadBlock *block, size_t i);

/* Of a product with k terms a sum in doubles, relative to norms. */
double gemm_off(size_t k);

#endif
