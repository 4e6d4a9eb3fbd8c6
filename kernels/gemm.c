/*
 * Matrix products on OpenBLAS.
 */
#include "gemm.h"

#include "pass.h"

#include <cblas.h>
#include <limits.h>

static blasint extent(size_t count)
{
    KERNEL_CHECK(count <= INT_MAX);
    return (blasint)count;
}

static void gemm(enum CBLAS_TRANSPOSE transpose_b, Scalar *c, size_t ldc, const Scalar *a,
                 size_t lda, const Scalar *b, size_t ldb, size_t m, size_t n, size_t k,
                 Scalar alpha, Scalar beta)
{
    KERNEL_CHECK(ldc >= n && lda >= k && ldb >= (transpose_b == CblasTrans ? k : n));
    if (m == 0 || n == 0) {
        return;
    }
    SCALAR_GEMM(CblasRowMajor, CblasNoTrans, transpose_b, extent(m), extent(n), extent(k), alpha, a,
                extent(lda), b, extent(ldb), beta, c, extent(ldc));
}

void blas_gemm(Scalar *c, size_t ldc, const Scalar *a, size_t lda, const Scalar *b, size_t ldb,
               size_t m, size_t n, size_t k, Scalar alpha, Scalar beta)
{
    gemm(CblasNoTrans, c, ldc, a, lda, b, ldb, m, n, k, alpha, beta);
}

void blas_gemm_nt(Scalar *c, size_t ldc, const Scalar *a, size_t lda, const Scalar *b, size_t ldb,
                  size_t m, size_t n, size_t k, Scalar alpha, Scalar beta)
{
    gemm(CblasTrans, c, ldc, a, lda, b, ldb, m, n, k, alpha, beta);
}
