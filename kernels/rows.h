/*
 * Rows of the stream in the structured form, which stores no position columns: the tokens' and the
 * bias row's, each a matrix of its own.
 */
#ifndef HEADPROOF_KERNELS_ROWS_H
#define HEADPROOF_KERNELS_ROWS_H

#include "pass.h"

/* A matrix with a row for each token, [n, ld], and one for the bias row, [ld], or NULL. */
typedef struct {
    Scalar *tokens, *bias;
    size_t ld;
} Rows;

typedef struct {
    const Scalar *tokens, *bias;
    size_t ld;
} ConstRows;

/* Scratch for so many columns of each row; uninitialised. */
Rows rows_take(Scratch *scratch, const Layout *layout, double columns);

/* The same rows from column first on. */
Rows rows_from(Rows rows, size_t first);
ConstRows rows_const(Rows rows);
ConstRows rows_const_from(ConstRows rows, size_t first);

/* A product of n tokens: depth columns of x by, for each head, width columns of the result. */
typedef struct {
    size_t n, depth, heads, width;
} Extents;

/* How a product is stored: alpha times it + beta out; then bias [heads * width] (or NULL) is
 * added on the token rows, and the result is rounded to the format. */
typedef struct {
    Scalar alpha, beta;
    const Scalar *bias;
    NumberFormat format;
} Ending;

/* out [., heads * width] = x [., depth] times the heads' matrices [depth, width] side by side, by
 * tiles; tokens and bias row in calls of their own (a token's product does not depend on whether
 * there is a bias row). */
void rows_multiply(Rows out, ConstRows x, Weight weight, Extents size, Ending ending,
                   size_t threads);

/* Rows 0, ..., n - 1 are the tokens, row n is the bias row, if any. */
size_t rows_count(Rows rows, size_t n);
Scalar *rows_row(Rows rows, size_t n, size_t i);

#endif
