/*
 * Products of matrices of doubles, and of floats, by OpenBLAS on the caller's thread.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_GEMM_H
#define HEADPROOF_REFERENCE_PRODUCT_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/* A factor of a product, row-major with a leading dimension, or the transpose of that. */
typedef struct {
    const double *entry;
    size_t ld;
    bool transposed;
} GemmFactor;

typedef struct {
    const float *entry;
    size_t ld;
    bool transposed;
} GemmFloats;

/* Of C [m, n], A [m, k] and B [k, n]. */
typedef struct {
    size_t m, n, k;
} GemmExtents;

static inline GemmFactor gemm_plain(const double *entry, size_t ld)
{
    return (GemmFactor){entry, ld, false};
}

static inline GemmFactor gemm_transposed(const double *entry, size_t ld)
{
    return (GemmFactor){entry, ld, true};
}

/* C = A B + beta C, C row-major.  An entry is off by at most
 * 1.01 (k + 1) 2^-53 (|A| |B| + |beta C|). */
void gemm(double *c, size_t ldc, GemmFactor a, GemmFactor b, GemmExtents size, double beta);

/* The same of floats, in half the time; 2^-24 for 2^-53. */
void gemm_float(float *c, size_t ldc, GemmFloats a, GemmFloats b, GemmExtents size, float beta);

/* The upper triangle of C = A A^T, C [n, n], A [n, k]; or of A^T A, A [k, n]: in half the time,
 * with the same bound. */
void gemm_square(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, size_t n,
                 size_t k);

/* The same of floats, 2^-24 for 2^-53, C with a leading dimension of n: in half the time again. */
void gemm_square_float(float *c, GemmFloats a, size_t n, size_t k);

/* y = A x, A [n, n] symmetric, its upper triangle there. */
void gemm_symmetric(double *y, const double *a, const double *x, size_t n);

/* Is A, [n, n] symmetric, its lower triangle there, positive definite?  That becomes L of A = L L^T
 * (Cholesky).  true: no eigenvalue of A is below -1.01 (n + 2) 2^-53 times the sum of A's diagonal
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., theorem 10.3; a division may be
 * by way of a reciprocal). */
bool gemm_definite(double *a, size_t n);

#endif
