/*
 * Products of matrices of doubles, and of floats, by OpenBLAS on the caller's thread.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_GEMM_H
#define HEADPROOF_REFERENCE_PRODUCT_GEMM_H

#include <stdbool.h>
#include <stddef.h>

/* C = A B + beta C, row-major, C [m, n], with leading dimensions; A [m, k], or [k, m] where it is
 * transposed, B likewise.  An entry is off by at most 1.01 (k + 1) 2^-53 (|A| |B| + |beta C|). */
void gemm(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, const double *b,
          size_t ldb, bool b_transposed, size_t m, size_t n, size_t k, double beta);

/* The same of floats, in half the time; 2^-24 for 2^-53. */
void gemm_float(float *c, size_t ldc, const float *a, size_t lda, bool a_transposed, const float *b,
                size_t ldb, bool b_transposed, size_t m, size_t n, size_t k, float beta);

/* The upper triangle of C = A A^T, C [n, n], A [n, k]; or of A^T A, A [k, n]: in half the time,
 * with the same bound. */
void gemm_square(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, size_t n,
                 size_t k);

#endif
