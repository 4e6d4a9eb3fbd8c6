/*
 * Matrix products on OpenBLAS.
 */
#ifndef HEADPROOF_KERNELS_GEMM_H
#define HEADPROOF_KERNELS_GEMM_H

#include "scalar.h"

/* Row-major with a leading dimension. */
typedef struct {
    Scalar *entry;
    size_t ld;
} GemmMatrix;

typedef struct {
    const Scalar *entry;
    size_t ld;
} GemmFactor;

/* Of C [m, n] = alpha A B + beta C, A [m, k], B [k, n]. */
typedef struct {
    size_t m, n, k;
    Scalar alpha, beta;
} GemmTask;

/* Extents beyond an int are a bug (kernel_bytes refuses them first). */
void blas_gemm(GemmMatrix c, GemmFactor a, GemmFactor b, GemmTask task);

/* The same with B given as its transpose [n, k]. */
void blas_gemm_nt(GemmMatrix c, GemmFactor a, GemmFactor b, GemmTask task);

#endif
