/*
 * The time of a kernel's dgemms alone.
 */
#include "bench_gemms.h"

#include "bench_run.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct {
    enum CBLAS_ORDER order;
    enum CBLAS_TRANSPOSE transpose_a, transpose_b;
    blasint m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const double *a, *b;
    double *c;
} Call;

static struct {
    Call *calls;
    size_t count, capacity;
    bool noting;
} noted;

/* Of the linker's --wrap: calls of cblas_dgemm come to the second, the first is OpenBLAS's. */
void __real_cblas_dgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transpose_a,
                        enum CBLAS_TRANSPOSE transpose_b, blasint m, blasint n, blasint k,
                        double alpha, const double *a, blasint lda, const double *b, blasint ldb,
                        double beta, double *c, blasint ldc);
void __wrap_cblas_dgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transpose_a,
                        enum CBLAS_TRANSPOSE transpose_b, blasint m, blasint n, blasint k,
                        double alpha, const double *a, blasint lda, const double *b, blasint ldb,
                        double beta, double *c, blasint ldc);

static void make(const Call *call)
{
    __real_cblas_dgemm(call->order, call->transpose_a, call->transpose_b, call->m, call->n, call->k,
                       call->alpha, call->a, call->lda, call->b, call->ldb, call->beta, call->c,
                       call->ldc);
}

static void note(const Call *call)
{
    if (noted.count == noted.capacity) {
        noted.capacity = 2 * noted.capacity + 1024;
        noted.calls = realloc(noted.calls, noted.capacity * sizeof *noted.calls);
        if (noted.calls == NULL) {
            bench_fail("memory is short");
        }
    }
    noted.calls[noted.count++] = *call;
}

void __wrap_cblas_dgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE transpose_a,
                        enum CBLAS_TRANSPOSE transpose_b, blasint m, blasint n, blasint k,
                        double alpha, const double *a, blasint lda, const double *b, blasint ldb,
                        double beta, double *c, blasint ldc)
{
    Call call = {order, transpose_a, transpose_b, m, n, k, lda, ldb, ldc, alpha, beta, a, b, c};
    if (noted.noting) {
        note(&call);
    }
    make(&call);
}

void gemms_note(void)
{
    noted.count = 0;
    noted.noting = true;
}

Gemms gemms_again(void)
{
    Gemms gemms = {.calls = noted.count};
    noted.noting = false;
    double start = bench_cpu_seconds();
    for (size_t i = 0; i < noted.count; i++) {
        make(&noted.calls[i]);
    }
    gemms.seconds = bench_cpu_seconds() - start;
    for (size_t i = 0; i < noted.count; i++) {
        const Call *call = &noted.calls[i];
        gemms.flops += 2.0 * call->m * call->n * call->k;
    }
    return gemms;
}
