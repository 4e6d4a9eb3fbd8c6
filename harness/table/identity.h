/*
 * A grid's identity, two short texts: files of rows that agree in them can be put together.
 */
#ifndef HEADPROOF_HARNESS_TABLE_IDENTITY_H
#define HEADPROOF_HARNESS_TABLE_IDENTITY_H

#include "../base/digest.h"
#include "../grid/grid.h"

/* points: of the key columns of every point, in order, each followed by a newline, and then
 * identity_end.
 * weights: of the bytes of the files that weights come from, in order; "" without any. */
typedef struct {
    char points[DIGEST_TEXT], weights[DIGEST_TEXT];
} GridIdentity;

/* The digest of all points, of that of their keys, and whether --propagation gives their rows more
 * columns. */
uint64_t identity_end(uint64_t points, bool propagation);

/* 0; 2 or 99 after one message when a file cannot be read. */
int grid_identify(GridIdentity *identity, const Grid *grid) __attribute__((warn_unused_result));

#endif
