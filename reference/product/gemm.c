/*
 * Products of matrices of doubles, and of floats, by OpenBLAS.
 */
#include "gemm.h"

#include "internal.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
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

void gemm_symmetric(double *y, const double *a, const double *x, size_t n)
{
    cblas_dsymv(CblasRowMajor, CblasUpper, extent(n), 1, a, extent(n), x, 1, 0, y, 1);
}

/* Columns of L that are found one by one. */
enum { PANEL = 64 };

/* The same of a block of so many columns, which lies with a leading dimension. */
static bool definite_block(double *a, size_t lda, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = j; i < columns; i++) {
            for (size_t k = 0; k < j; k++) {
                a[i * lda + j] -= a[i * lda + k] * a[j * lda + k];
            }
            if (i == j && !(a[i * lda + j] > 0)) {
                return false;
            }
            a[i * lda + j] = i == j ? sqrt(a[i * lda + j]) : a[i * lda + j] / a[j * lda + j];
        }
    }
    return true;
}

bool gemm_definite(double *a, size_t n)
{
    for (size_t first = 0; first < n; first += PANEL) {
        size_t columns = n - first < PANEL ? n - first : PANEL, below = n - first - columns;
        double *block = a + first * n + first, *under = block + columns * n;
        if (!definite_block(block, n, columns)) {
            return false;
        }
        if (below > 0) {
            cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                        extent(below), extent(columns), 1, block, extent(n), under, extent(n));
            cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, extent(below), extent(columns), -1,
                        under, extent(n), 1, under + columns, extent(n));
        }
    }
    return true;
}
