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

/* A product with one column: gemm would first copy all of A, in several times the time. */
static void gemv(double *c, size_t ldc, GemmFactor a, GemmFactor b, GemmExtents size, double beta)
{
    for (size_t i = 0; beta == 0 && i < size.m; i++) {
        c[i * ldc] = 0; /* whatever it was: 0 times NaN is NaN */
    }
    cblas_dgemv(CblasRowMajor, turned(a.transposed), extent(a.transposed ? size.k : size.m),
                extent(a.transposed ? size.m : size.k), 1, a.entry, extent(a.ld), b.entry,
                b.transposed ? 1 : extent(b.ld), beta, c, extent(ldc));
}

void gemm(double *c, size_t ldc, GemmFactor a, GemmFactor b, GemmExtents size, double beta)
{
    if (size.m > 0 && size.n == 1) {
        gemv(c, ldc, a, b, size, beta);
    } else if (size.m > 0 && size.n > 0) {
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

void gemm_square_float(float *c, GemmFloats a, size_t n, size_t k)
{
    if (n > 0) {
        cblas_ssyrk(CblasRowMajor, CblasUpper, turned(a.transposed), extent(n), extent(k), 1,
                    a.entry, extent(a.ld), 0, c, extent(n));
    }
}
