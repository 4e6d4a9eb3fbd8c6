/*
 * Products of matrices of doubles, and of floats, by OpenBLAS.
 */
#include "gemm.h"

#include "internal.h"

#include <cblas.h>
#include <limits.h>
#include <stdlib.h>

static blasint extent(size_t count)
{
    PRODUCT_CHECK(count <= INT_MAX);
    return (blasint)count;
}

void gemm(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, const double *b,
          size_t ldb, bool b_transposed, size_t m, size_t n, size_t k, double beta)
{
    if (m == 0 || n == 0) {
        return;
    }
    cblas_dgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
                b_transposed ? CblasTrans : CblasNoTrans, extent(m), extent(n), extent(k), 1, a,
                extent(lda), b, extent(ldb), beta, c, extent(ldc));
}

void gemm_float(float *c, size_t ldc, const float *a, size_t lda, bool a_transposed, const float *b,
                size_t ldb, bool b_transposed, size_t m, size_t n, size_t k, float beta)
{
    if (m == 0 || n == 0) {
        return;
    }
    cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans,
                b_transposed ? CblasTrans : CblasNoTrans, extent(m), extent(n), extent(k), 1, a,
                extent(lda), b, extent(ldb), beta, c, extent(ldc));
}

void gemm_square(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, size_t n,
                 size_t k)
{
    if (n > 0) {
        cblas_dsyrk(CblasRowMajor, CblasUpper, a_transposed ? CblasTrans : CblasNoTrans, extent(n),
                    extent(k), 1, a, extent(lda), 0, c, extent(ldc));
    }
}
