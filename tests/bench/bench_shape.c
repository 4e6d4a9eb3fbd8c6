/*
 * Products of one shape, timed.
 */
#include "bench_shape.h"

#include "bench_run.h"

#include <math.h>
#include <stdlib.h>

#define ENOUGH_SECONDS 0.6
#define BATCH_MULTIPLY_ADDS 20e3

double multiply_adds(const Shape *s)
{
    return (double)s->m * (double)s->k * (double)s->n;
}

/* One product's operands and result. */
typedef struct {
    ApMat a, b, c;
    double *w;
} Data;

/* Small products are timed many at a time: reading the clock takes as long as one of them. */
typedef struct {
    size_t count;
    Data *data;           /* [count] */
    ProductView *va, *vb; /* [count] */
} Batch;

static bool in_doubles(NumbersForm form)
{
    return form == NUMBERS_DOUBLES || form == NUMBERS_FLOATS;
}

static void data_init(Data *data, const Shape *s, mpfr_prec_t bits)
{
    data->w = calloc(s->k * s->n + 1, sizeof *data->w);
    if (data->w == NULL) {
        bench_fail("memory is short");
    }
    ap_init(&data->a, s->m, s->k, bits);
    ap_init(&data->b, in_doubles(s->b) ? 0 : s->k, s->n, bits);
    ap_init(&data->c, s->m, s->n, bits);
}

static void batch_init(Batch *batch, const Shape *s, mpfr_prec_t bits)
{
    batch->count = 1 + (size_t)(BATCH_MULTIPLY_ADDS / multiply_adds(s));
    batch->data = calloc(batch->count, sizeof *batch->data);
    batch->va = calloc(batch->count, sizeof *batch->va);
    batch->vb = calloc(batch->count, sizeof *batch->vb);
    if (batch->data == NULL || batch->va == NULL || batch->vb == NULL) {
        bench_fail("memory is short");
    }
    for (size_t i = 0; i < batch->count; i++) {
        Data *data = &batch->data[i];
        data_init(data, s, bits);
        batch->va[i] = product_view(&data->a);
        batch->vb[i] =
            in_doubles(s->b) ? product_doubles(data->w, s->k, s->n, s->n) : product_view(&data->b);
    }
}

static void batch_clear(Batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        ap_clear(&batch->data[i].a);
        ap_clear(&batch->data[i].b);
        ap_clear(&batch->data[i].c);
        free(batch->data[i].w);
    }
    free(batch->data);
    free(batch->va);
    free(batch->vb);
}

static void batch_fill(Batch *batch, const Shape *s, uint64_t *state)
{
    for (size_t i = 0; i < batch->count; i++) {
        Data *data = &batch->data[i];
        numbers_fill(&data->a, s->a, state);
        numbers_fill(&data->b, s->b, state);
        for (size_t e = 0; in_doubles(s->b) && e < s->k * s->n; e++) {
            double w = numbers_normal(state);
            data->w[e] = s->b == NUMBERS_FLOATS ? (float)w : w;
        }
    }
}

/* Seconds of the products by a backend; the last one's report, which no evaluation asks for. */
static double time_once(const Batch *batch, ProductBackend backend, ProductReport *report)
{
    const ProductOptions options = {.backend = backend};
    double start = bench_cpu_seconds();
    for (size_t i = 0; i < batch->count; i++) {
        product_mul(product_view(&batch->data[i].c), batch->va[i], batch->vb[i], &options,
                    i + 1 < batch->count ? NULL : report);
    }
    return bench_cpu_seconds() - start;
}

double time_product(const Shape *s, mpfr_prec_t bits, ProductBackend backend, ProductReport *report)
{
    Batch batch;
    uint64_t state = 88172645463325252ULL;
    double best = INFINITY, total = 0;
    batch_init(&batch, s, bits);
    double work = multiply_adds(s) * (double)batch.count;
    for (int run = 0; run < SHAPE_RUNS && (run < 2 || total < ENOUGH_SECONDS); run++) {
        batch_fill(&batch, s, &state);
        double seconds = time_once(&batch, backend, report);
        best = fmin(best, seconds);
        total += seconds;
    }
    batch_clear(&batch);
    return 1e9 * best / work;
}
