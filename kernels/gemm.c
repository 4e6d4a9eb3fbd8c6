/*
 * Products of matrices of Scalar on OpenBLAS.
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

static void gemm(enum CBLAS_TRANSPOSE transpose_b, GemmMatrix c, GemmFactor a, GemmFactor b,
                 GemmTask task)
{
    size_t width = transpose_b == CblasTrans ? task.k : task.n;
    KERNEL_CHECK(c.ld >= task.n && a.ld >= task.k && b.ld >= width);
    if (task.m > 0 && task.n > 0) {
        SCALAR_GEMM(CblasRowMajor, CblasNoTrans, transpose_b, extent(task.m), extent(task.n),
                    extent(task.k), task.alpha, a.entry, extent(a.ld), b.entry, extent(b.ld),
                    task.beta, c.entry, extent(c.ld));
    }
}

void blas_gemm(GemmMatrix c, GemmFactor a, GemmFactor b, GemmTask task)
{
    gemm(CblasNoTrans, c, a, b, task);
}

void blas_gemm_nt(GemmMatrix c, GemmFactor a, GemmFactor b, GemmTask task)
{
    gemm(CblasTrans, c, a, b, task);
}
