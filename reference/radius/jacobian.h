/*
 * The derivative of a row's sublayer by the row itself, as a matrix (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_JACOBIAN_H
#define HEADPROOF_REFERENCE_RADIUS_JACOBIAN_H

#include "internal.h"

/* Columns that a matrix for each row is worth. */
enum { JACOBIAN_COLUMNS = 32 };

/* x -> A diag(w) B on all of the content's columns: A [columns, inner], B [inner, columns], and
 * their Frobenius norms. */
typedef struct {
    const double *a, *b;
    size_t lda, ldb, inner;
    double a_size, b_size;
} RowMap;

/* Is it worth forming, of the rows of the sublayer at hand: few columns, and radii that have grown
 * so far that bits are about to lack? */
bool jacobian_worth(const Radius *r);

/* At least |d + A diag(w) B|, d and w within `off` of the true ones: the entry's own derivatives of
 * row i in a pass, and w [inner] (C41). */
double jacobian_norm(const Radius *r, const RowMap *map, const Pass *pass, const double *w,
                     size_t i);

/* Row i's own radii go through a derivative of this norm; d is in it, and becomes zero. */
void jacobian_take(const Radius *r, Pass *pass, double norm, size_t i);

#endif
