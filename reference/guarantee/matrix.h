/*
 * Matrices of doubles that stand for exact ones, and proven bounds of their norms (private to
 * reference/guarantee/; docs/proof.md, "Norms of weights").
 *
 * The entries are kept between -1 and 1 beside a power of two, so that nothing overflows; `off`
 * says how far the exact matrix may be from what is kept, in the Frobenius norm.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_MATRIX_H
#define HEADPROOF_REFERENCE_GUARANTEE_MATRIX_H

#include "magnitude.h"

#include "../../cases/model.h"

#include <stdbool.h>
#include <stddef.h>

/* The exact matrix is within off 2^exponent of entry 2^exponent, row-major; off may be INFINITY. */
typedef struct {
    double *entry;
    size_t rows, columns;
    long exponent;
    double off;
} Matrix;

/* Doubles [rows, columns] in an array or, with data NULL, zeros: entry (r, c) is
 * data[r * row + c * column]. */
typedef struct {
    const double *data;
    size_t rows, columns, row, column;
} Doubles;

/* A matrix is made of zeros, and cleared by whoever made it; clearing an empty one is fine. */
void matrix_zeros(Matrix *m, size_t rows, size_t columns);
void matrix_clear(Matrix *m);

/* The doubles, exactly. */
void matrix_take(Matrix *m, Doubles from);

/* After the entries of a matrix of zeros were written: they are the exact ones. */
void matrix_settle(Matrix *m);

/* Is it zero exactly? */
bool matrix_is_zero(const Matrix *m);

void matrix_copy(Matrix *m, const Matrix *from);
void matrix_identity(Matrix *m, size_t n);

/* c = a b, or a b^T. */
void matrix_product(Matrix *c, const Matrix *a, const Matrix *b, bool b_transposed);

/* m += factor w, of the same shape. */
void matrix_add(Matrix *m, const Matrix *w, double factor);

/* m += row w, of doubles or NULL for none. */
void matrix_add_row(Matrix *m, const double *row, const Matrix *w);

/* m += integer times the identity, m square. */
void matrix_add_diagonal(Matrix *m, long integer);

/* Rows first, ... of m, which are zeros of a matrix in units of 1, become s part. */
void matrix_place(Matrix *m, size_t first, const Matrix *part, Magnitude s);

/* m = P diag(gamma) m, of a norm over the rows of m, or m where there is none: P takes the mean
 * away (layer norm), or nothing. */
void matrix_fold(Matrix *m, const LayerNorm *norm);

/* At least the largest singular value, the Frobenius norm, the norm of the largest column. */
Magnitude matrix_norm(const Matrix *m);
Magnitude matrix_frobenius(const Matrix *m);
Magnitude matrix_largest_column(const Matrix *m);

/* |m diag(by)|, by [columns]; |a b|, or |a b^T|. */
Magnitude matrix_norm_scaled(const Matrix *m, const double *by);
Magnitude matrix_norm_of_product(const Matrix *a, const Matrix *b, bool b_transposed);

/* At least max(0, -lambda), lambda the smallest eigenvalue of (m + m^T)/2. */
Magnitude matrix_negative_part(const Matrix *m);

/* At least the one entry of a matrix [1, 1], which has a sign. */
double matrix_entry_above(const Matrix *m);

#endif
