#define _DEFAULT_SOURCE /* madvise */

#include "internal.h"

#include <cblas.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

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

/* Residues and digits are written once and read a few times: fresh pages of 4 KB would cost as much
 * as the arithmetic. */
void *array_alloc(size_t count, size_t size)
{
    void *p = NULL;
    if (count > (PTRDIFF_MAX - HUGE_PAGE) / size) {
        return NULL;
    }
    bool large = count * size >= HUGE_PAGE / 2;
    if (posix_memalign(&p, large ? HUGE_PAGE : 64, count * size + 1) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (large) {
        (void)madvise(p, count * size, MADV_HUGEPAGE); /* a wish */
    }
#endif
    return p;
}
