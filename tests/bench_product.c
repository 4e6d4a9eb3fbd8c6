/*
 * Matrix products, and exp of vectors: nanoseconds a multiply-add of every backend, against a loop of mpfr_fma and
 * arb_mat_mul, in one run, on one thread.
 *
 *     bench_product            squares, and the shapes of a transformer
 *     bench_product squares [BITS] | transformer [BITS] | exp
 *
 * Every run has fresh random matrices: a loop over one matrix again and again is flattered, because
 * the branch predictor learns the data.  A figure is the least of several runs, in the
 * processor's time: others may load the machine.
 */
#include "../cases/draw.h"
#include "../kernels/blas.h"
#include "../reference/product/product.h"
#include "../reference/product/vexp.h"
#include "../reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENOUGH_SECONDS 0.6
enum { RUNS = 15, LOOP_ENTRIES = 2000 };

typedef enum { FULL, DOUBLES, PATTERN } Form;

typedef struct {
    const char *name;
    size_t m, k, n;
    Form a, b;
    size_t times; /* in a layer */
} Shape;

static void out_of_memory(void)
{
    fprintf(stderr, "bench: memory is short\n");
    exit(99);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* xorshift64*: data for timing, not for results. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ULL;
}

static double next_normal(uint64_t *state)
{
    return draw_quantile((double)(next(state) >> 12 | 1) * 0x1p-52);
}

/* All bits random; a pattern's rows are like a softmax's. */
static void fill(ApMat *m, Form form, uint64_t *state)
{
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        mpfr_ptr x = m->entry + i;
        double y = next_normal(state);
        mpfr_set_d(x, form == PATTERN ? exp(y) / (double)m->columns : y, MPFR_RNDN);
        for (size_t l = 0; l * 64 + 64 < (size_t)m->bits; l++) {
            ((mp_limb_t *)mpfr_custom_get_significand(x))[l] = next(state);
        }
    }
}

typedef struct {
    ApMat a, b, c;
    double *w;
    ProductView va, vb;
} Data;

static void data_init(Data *data, const Shape *s, mpfr_prec_t bits)
{
    data->w = calloc(s->k * s->n + 1, sizeof *data->w);
    if (data->w == NULL || !ap_init(&data->a, s->m, s->k, bits) ||
        !ap_init(&data->b, s->b == DOUBLES ? 0 : s->k, s->n, bits) ||
        !ap_init(&data->c, s->m, s->n, bits)) {
        out_of_memory();
    }
    data->va = product_view(&data->a);
    data->vb =
        s->b == DOUBLES ? product_doubles(data->w, s->k, s->n, s->n) : product_view(&data->b);
}

static void data_clear(Data *data)
{
    ap_clear(&data->a);
    ap_clear(&data->b);
    ap_clear(&data->c);
    free(data->w);
}

static void data_fill(Data *data, const Shape *s, uint64_t *state)
{
    fill(&data->a, s->a, state);
    fill(&data->b, s->b, state);
    for (size_t i = 0; s->b == DOUBLES && i < s->k * s->n; i++) {
        data->w[i] = next_normal(state);
    }
}

/* Least ns a multiply-add; *report: of the last run. */
static double time_backend(const Shape *s, mpfr_prec_t bits, ProductBackend backend,
                           ProductReport *report)
{
    Data data;
    uint64_t state = 88172645463325252ULL;
    double best = INFINITY, total = 0;
    data_init(&data, s, bits);
    for (int run = 0; run < RUNS && (run < 2 || total < ENOUGH_SECONDS); run++) {
        data_fill(&data, s, &state);
        double start = cpu_seconds();
        if (!product_mul(product_view(&data.c), data.va, data.vb,
                         &(ProductOptions){.backend = backend}, report)) {
            out_of_memory();
        }
        double seconds = cpu_seconds() - start;
        best = fmin(best, seconds);
        total += seconds;
    }
    data_clear(&data);
    return 1e9 * best / ((double)s->m * (double)s->k * (double)s->n);
}

/* The loop on a part of the product: some rows, all of k. */
static double time_loop(const Shape *s, mpfr_prec_t bits)
{
    Shape part = *s;
    size_t rows = LOOP_ENTRIES / s->n + 1;
    part.m = s->m < rows ? s->m : rows;
    return time_backend(&part, bits, PRODUCT_LOOP, NULL);
}

static double time_dgemm(const Shape *s)
{
    double *a = calloc(s->m * s->k, sizeof *a), *b = calloc(s->k * s->n, sizeof *b);
    double *c = calloc(s->m * s->n, sizeof *c), best = INFINITY;
    if (a == NULL || b == NULL || c == NULL) {
        out_of_memory();
    }
    for (int run = 0; run < RUNS; run++) {
        double start = cpu_seconds();
        blas_gemm(c, s->n, a, s->k, b, s->n, s->m, s->n, s->k, 1, 0);
        best = fmin(best, cpu_seconds() - start);
    }
    free(a);
    free(b);
    free(c);
    return 1e9 * best / ((double)s->m * (double)s->k * (double)s->n);
}

static void print_heading(const char *what)
{
    printf("\n%-26s %5s %7s %7s", what, "bits", "dgemm", "loop");
    for (ProductBackend b = PRODUCT_ARB; b < PRODUCT_BACKENDS; b++) {
        printf(" %8s %6s", product_backend_name(b), "loop/");
    }
    printf("  %-8s %6s %6s %4s\n", "auto", "loop/", "pred/", "P");
}

/* Returns the chosen backend's seconds. */
static double bench_shape(const Shape *s, mpfr_prec_t bits)
{
    ProductReport report;
    double loop = time_loop(s, bits);
    printf("%-26s %5ld %7.3f %7.1f", s->name, (long)bits, time_dgemm(s), loop);
    for (ProductBackend b = PRODUCT_ARB; b < PRODUCT_BACKENDS; b++) {
        bool there = product_has(b) && !(b == PRODUCT_ARB && s->m * s->n * s->k > 150000000);
        double ns = there ? time_backend(s, bits, b, &report) : NAN;
        if (!there || report.backend != b) {
            printf(" %8s %6s", "-", "-");
        } else {
            printf(" %8.2f %6.1f", ns, loop / ns);
        }
        fflush(stdout);
    }
    double ns = time_backend(s, bits, PRODUCT_AUTO, &report);
    double seconds = 1e-9 * ns * (double)s->m * (double)s->k * (double)s->n;
    printf("  %-8s %6.1f %6.2f %4ld\n", product_backend_name(report.backend), loop / ns,
           report.predicted / seconds, (long)report.bits);
    fflush(stdout);
    return seconds;
}

static void bench_squares(mpfr_prec_t only)
{
    static const mpfr_prec_t bits[] = {128, 256, 512, 1024, 3072};
    static const size_t sizes[] = {8, 16, 32, 64, 128, 256, 512};
    for (size_t p = 0; p < sizeof bits / sizeof *bits; p++) {
        if (only != 0 && bits[p] != only) {
            continue;
        }
        print_heading("ns a multiply-add, n x n x n");
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i];
            char name[32];
            snprintf(name, sizeof name, "%zu", n);
            if (bits[p] <= 1024 || n <= 256) {
                bench_shape(&(Shape){name, n, n, n, FULL, FULL, 1}, bits[p]);
            }
        }
    }
}

static void print_exp_heading(void)
{
    printf("\nns an exp\n%5s %9s %9s %9s %8s\n", "bits", "mpfr_exp", "ap_exp", "vexp", "ap_exp/");
}

/* Least ns a call of exp on fresh arguments below 64: MPFR's, ap_exp, vexp; returns vexp's. */
static double bench_exp(mpfr_prec_t bits)
{
    enum { COUNT = 4000 };
    ApMat x, y;
    uint64_t state = 1;
    double best[3] = {INFINITY, INFINITY, INFINITY};
    VectorExp *vector = vexp_create(bits, false);
    ApExp *scalar = ap_exp_create(false);
    if (vector == NULL || scalar == NULL || !ap_init(&x, 1, COUNT, bits) ||
        !ap_init(&y, 1, COUNT, bits)) {
        out_of_memory();
    }
    for (int run = 0; run < 3 * 10; run++) {
        fill(&x, FULL, &state);
        for (size_t i = 0; i < COUNT; i++) {
            mpfr_mul_ui(x.entry + i, x.entry + i, 10, MPFR_RNDN);
        }
        double start = cpu_seconds();
        for (size_t i = 0; run % 3 < 2 && i < COUNT; i++) {
            if (run % 3 == 0) {
                mpfr_exp(y.entry + i, x.entry + i, MPFR_RNDN);
            } else {
                ap_exp(scalar, y.entry + i, x.entry + i);
            }
        }
        if (run % 3 == 2) {
            vexp(vector, y.entry, x.entry, COUNT);
        }
        best[run % 3] = fmin(best[run % 3], 1e9 * (cpu_seconds() - start) / COUNT);
    }
    printf("%5ld %9.0f %9.0f %9.1f %8.1f\n", (long)bits, best[0], best[1], best[2],
           best[1] / best[2]);
    vexp_free(vector);
    ap_exp_free(scalar);
    ap_clear(&x);
    ap_clear(&y);
    return best[2];
}

/* GPT-2 small's sizes; causal masks are not used. */
static void bench_transformer(mpfr_prec_t bits)
{
    enum { N = 1024, D = 768, H = 3072, HEADS = 12, LAYERS = 12 };
    static const Shape shapes[] = {
        {"X W_Q|K|V, all heads", N, D, 3 * D, FULL, DOUBLES, 1},
        {"scores Q K^T, a head", N, 64, N, FULL, FULL, HEADS},
        {"pattern V, a head", N, N, 64, PATTERN, FULL, HEADS},
        {"Z W_O, all heads", N, D, D, FULL, DOUBLES, 1},
        {"X W_in", N, D, H, FULL, DOUBLES, 1},
        {"SiLU(..) W_out", N, H, D, FULL, DOUBLES, 1},
    };
    double layer = 0, multiply_adds = 0;
    print_heading("ns a multiply-add, GPT-2");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const Shape *s = &shapes[i];
        layer += (double)s->times * bench_shape(s, bits);
        multiply_adds += (double)s->times * (double)s->m * (double)s->k * (double)s->n;
    }
    printf("all products of %d layers at %ld bits: %.1f s for %.3g multiply-adds, %.3f ns each\n",
           LAYERS, (long)bits, LAYERS * layer, LAYERS * multiply_adds, 1e9 * layer / multiply_adds);
    double exps = LAYERS * ((double)HEADS * N * N + (double)N * H);
    print_exp_heading();
    printf("and %.3g exps: %.1f s\n", exps, 1e-9 * exps * bench_exp(bits));
}

int main(int argc, char **argv)
{
    blas_setup(argv);
    ref_thread_setup();
    printf("one thread, least of several runs; OpenBLAS core %s (%s)\n", blas_core(),
           blas_core_origin());
    long bits = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (argc < 2 || strcmp(argv[1], "squares") == 0) {
        bench_squares(bits);
    }
    if (argc < 2 || strcmp(argv[1], "transformer") == 0) {
        bench_transformer(bits == 0 ? 256 : bits);
    }
    if (argc < 2 || strcmp(argv[1], "exp") == 0) {
        print_exp_heading();
        for (mpfr_prec_t p = 128; p <= 1024; p *= 2) {
            bench_exp(p);
        }
    }
    ref_thread_clear();
    return 0;
}
