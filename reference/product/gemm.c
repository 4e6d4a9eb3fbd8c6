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

/* Two entries' roundings to floats and the sum of doubles are the 4 of the bound for the 1 of
 * gemm_float; numbers below 2^-126, which may become 0, are in the 1.01. */
bool gemm_square_coarse(double *c, size_t ldc, const double *a, size_t lda, bool a_transposed,
                        size_t n, size_t k)
{
    float *part = malloc(n * GEMM_COARSE * sizeof *part), *sum = malloc(n * n * sizeof *sum);
    bool ok = part != NULL && sum != NULL;
    for (size_t first = 0; ok && first < k; first += GEMM_COARSE) {
        size_t terms = k - first < GEMM_COARSE ? k - first : GEMM_COARSE;
        size_t rows = a_transposed ? terms : n, columns = a_transposed ? n : terms;
        const double *from = a + (a_transposed ? first * lda : first);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) {
                part[i * columns + j] = (float)from[i * lda + j];
            }
        }
        cblas_ssyrk(CblasRowMajor, CblasUpper, turned(a_transposed), extent(n), extent(terms), 1,
                    part, extent(columns), 0, sum, extent(n));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++) {
                c[i * ldc + j] = (first == 0 ? 0 : c[i * ldc + j]) + (double)sum[i * n + j];
            }
        }
    }
    free(part);
    free(sum);
    return ok;
}
