/*
 * Norms of matrices and vectors of doubles, rounded up (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_NORM_H
#define HEADPROOF_REFERENCE_RADIUS_NORM_H

#include "internal.h"
#include "norm_table.h"

/* At least the Frobenius norm of a matrix of doubles. */
double norm_frobenius(const double *w, size_t rows, size_t columns, size_t ld);

/* At least the 2-norm, (C2), and the Frobenius norm, found once as long as r's evaluations share a
 * table. */
MatrixNorms norm_of(const Radius *r, NormKey matrix);

/* Doubles that norm_of takes besides the matrix. */
double norm_doubles(NormKey matrix);

/* At least the 2-norm of a vector, and of its column c. */
double norm_vector(const double *v, size_t count, size_t stride);

#endif
