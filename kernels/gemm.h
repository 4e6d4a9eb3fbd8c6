/*
 * Matrix products on OpenBLAS.
 */
#ifndef HEADPROOF_KERNELS_GEMM_H
#define HEADPROOF_KERNELS_GEMM_H

#include "scalar.h"

/* C [m, n] = alpha A [m, k] B [k, n] + beta C, row-major with leading dimensions.
 * Extents beyond an int are a bug (kernel_bytes refuses them first). */
void blas_gemm(Scalar *c, size_t ldc, const Scalar *a, size_t lda, const Scalar *b, size_t ldb,
               size_t m, size_t n, size_t k, Scalar alpha, Scalar beta);

/* The same with B given as its transpose: C = alpha A B^T + beta C, B [n, k]. */
void blas_gemm_nt(Scalar *c, size_t ldc, const Scalar *a, size_t lda, const Scalar *b, size_t ldb,
                  size_t m, size_t n, size_t k, Scalar alpha, Scalar beta);

#endif
