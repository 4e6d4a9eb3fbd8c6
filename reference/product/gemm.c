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

static enum CBLAS_TRANSPOSE turned(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

void gemm(double *c, size_t ldc, GemmFactor a, GemmFactor b, GemmExtents size, double beta)
{
    if (size.m > 0 && size.n > 0) {
        cblas_dgemm(CblasRowMajor, turned(a.transposed), turned(b.transposed), extent(size.m),
                    extent(size.n), extent(size.k), 1, a.entry, extent(a.ld), b.entry, extent(b.ld),
                    beta, c, extent(ldc));
    }
}

void gemm_float(float *c, size_t ldc, GemmFloats a, GemmFloats b, GemmExtents size, float beta)
{
    if (size.m > 0 && size.n > 0) {
        cblas_sgemm(CblasRowMajor, turned(a.transposed), turned(b.transposed), extent(size.m),
                    extent(size.n), extent(size.k), 1, a.entry, extent(a.ld), b.entry, extent(b.ld),
                    beta, c, extent(ldc));
    }
}

void gemm_square(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed, size_t n,
                 size_t k)
{
    if (n > 0) {
        cblas_dsyrk(CblasRowMajor, CblasUpper, turned(a_transposed), extent(n), extent(k), 1, a,
                    extent(lda), 0, c, extent(ldc));
    }
}
