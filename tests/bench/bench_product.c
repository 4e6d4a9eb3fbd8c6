/*
 * Matrix products, and exp of vectors: nanoseconds a multiply-add of every backend, against a loop
 * of mpfr_fma and dgemm, in one run, on one thread.
 *
 *     bench_product [-o FILE.csv]            all of the below
 *     bench_product [-o FILE.csv] squares [BITS] | weights [BITS] | transformer [BITS] | exp
 *
 * Every run has fresh random matrices: a loop over one matrix again and again is flattered, because
 * the branch predictor learns the data.  A figure is the least of several runs, in the
 * processor's time: others may load the machine.
 */
#include "../../kernels/blas.h"
#include "../../kernels/gemm.h"
#include "../../reference/numbers/tier.h"
#include "bench_exp.h"
#include "bench_shape.h"

#include <math.h>
#include <stdlib.h>

enum { LOOP_ENTRIES = 2000 };

#define FLOATS_FASTER 1.5

/* The loop on a part of the product: some rows, all of k. */
static double time_loop(const Shape *s, mpfr_prec_t bits)
{
    Shape part = *s;
    ProductReport report;
    size_t rows = LOOP_ENTRIES / s->n + 1;
    part.m = s->m < rows ? s->m : rows;
    return time_product(&part, bits, PRODUCT_LOOP, &report);
}

static double time_dgemm(const Shape *s)
{
    double *a = calloc(s->m * s->k, sizeof *a), *b = calloc(s->k * s->n, sizeof *b);
    double *c = calloc(s->m * s->n, sizeof *c), best = INFINITY;
    if (a == NULL || b == NULL || c == NULL) {
        bench_fail("memory is short");
    }
    for (int run = 0; run < SHAPE_RUNS; run++) {
        double start = bench_cpu_seconds();
        blas_gemm((GemmMatrix){c, s->n}, (GemmFactor){a, s->k}, (GemmFactor){b, s->n},
                  (GemmTask){s->m, s->n, s->k, 1, 0});
        best = fmin(best, bench_cpu_seconds() - start);
    }
    free(a);
    free(b);
    free(c);
    return 1e9 * best / multiply_adds(s);
}

/* Nanoseconds a multiply-add; NaN where it was not measured.  backend[PRODUCT_AUTO] is what the
 * project uses, chosen says which that is. */
typedef struct {
    double dgemm, backend[PRODUCT_BACKENDS];
    ProductReport chosen;
} Times;

static void time_shape(Times *t, const Shape *s, mpfr_prec_t bits)
{
    ProductReport report;
    t->dgemm = time_dgemm(s);
    for (ProductBackend b = PRODUCT_AUTO; b < PRODUCT_BACKENDS; b++) {
        if (b == PRODUCT_LOOP) {
            t->backend[b] = time_loop(s, bits);
            continue;
        }
        t->backend[b] = time_product(s, bits, b, &report);
        if (b == PRODUCT_AUTO) {
            t->chosen = report;
        } else if (report.backend != b) {
            t->backend[b] = NAN; /* it left the product to another */
        }
    }
}

/* How many times faster than the loop a square is to be, with IFMA or by doubles alone; or 0. */
static double aim_of(const Shape *s, mpfr_prec_t bits)
{
    static const struct {
        mpfr_prec_t bits;
        size_t n;
        double ifma, portable;
    } aims[] = {{256, 32, 15, 4},
                {256, 128, 35, 10},
                {256, 512, 60, 35},
                {1024, 128, 10, 10},
                {1024, 512, 30, 30}};
    for (size_t i = 0; i < sizeof aims / sizeof *aims; i++) {
        bool square = s->m == aims[i].n && s->k == aims[i].n && s->n == aims[i].n;
        if (square && bits == aims[i].bits) {
            return tier_in_use() == TIER_AVX512 ? aims[i].ifma : aims[i].portable;
        }
    }
    return 0;
}

static const char *weights_of(const Shape *s)
{
    return s->b == NUMBERS_DOUBLES ? "yes" : s->b == NUMBERS_FLOATS ? "float" : "no";
}

static void write_time(BenchRun *run, const Shape *s, mpfr_prec_t bits, const char *backend,
                       double ns, const Times *t, const char *tail)
{
    char number[BENCH_CELL], loop[BENCH_CELL], dgemm[BENCH_CELL];
    if (!isnan(ns)) {
        bench_row(run, "product,%zu,%zu,%zu,%s,%ld,1,%s,%s,%s,%s,%s", s->m, s->k, s->n,
                  weights_of(s), (long)bits, backend, bench_cell(number, ns),
                  bench_cell(loop, t->backend[PRODUCT_LOOP] / ns), bench_cell(dgemm, ns / t->dgemm),
                  tail);
    }
}

static void write_times(BenchRun *run, const Shape *s, mpfr_prec_t bits, const Times *t)
{
    char tail[64];
    double ours = t->backend[PRODUCT_AUTO], aim = aim_of(s, bits);
    double faster = t->backend[PRODUCT_LOOP] / ours;
    snprintf(tail, sizeof tail, "%s,,", product_backend_name(t->chosen.backend));
    if (aim > 0) {
        bench_aim(run, faster >= aim, "n = %zu, %ld bits: %.1f times as fast as the loop; aim: %g",
                  s->n, (long)bits, faster, aim);
        snprintf(tail, sizeof tail, "%s,loop_over >= %g,%s",
                 product_backend_name(t->chosen.backend), aim, faster >= aim ? "yes" : "no");
    }
    write_time(run, s, bits, product_backend_name(PRODUCT_AUTO), ours, t, tail);
    for (ProductBackend b = PRODUCT_LOOP; b < PRODUCT_BACKENDS; b++) {
        write_time(run, s, bits, product_backend_name(b), t->backend[b], t, ",,");
    }
}

static void print_heading(const char *what)
{
    printf("\n%-26s %5s %7s %7s", what, "bits", "dgemm", "loop");
    for (ProductBackend b = PRODUCT_DOT; b < PRODUCT_BACKENDS; b++) {
        printf(" %8s %6s", product_backend_name(b), "loop/");
    }
    printf("  %-8s %8s %6s %6s %5s\n", "auto", "ns", "loop/", "pred/", "P");
}

static void print_times(const Shape *s, mpfr_prec_t bits, const Times *t)
{
    double loop = t->backend[PRODUCT_LOOP], ours = t->backend[PRODUCT_AUTO];
    printf("%-26s %5ld %7.3f %7.1f", s->name, (long)bits, t->dgemm, loop);
    for (ProductBackend b = PRODUCT_DOT; b < PRODUCT_BACKENDS; b++) {
        if (isnan(t->backend[b])) {
            printf(" %8s %6s", "-", "-");
        } else {
            printf(" %8.2f %6.1f", t->backend[b], loop / t->backend[b]);
        }
    }
    printf("  %-8s %8.2f %6.1f %6.2f %5ld\n", product_backend_name(t->chosen.backend), ours,
           loop / ours, t->chosen.predicted / (1e-9 * ours * multiply_adds(s)),
           (long)t->chosen.bits);
    fflush(stdout);
}

/* Returns the chosen backend's seconds. */
static double bench_shape(BenchRun *run, const Shape *s, mpfr_prec_t bits)
{
    Times times;
    time_shape(&times, s, bits);
    print_times(s, bits, &times);
    write_times(run, s, bits, &times);
    return 1e-9 * times.backend[PRODUCT_AUTO] * multiply_adds(s);
}

static void bench_squares(BenchRun *run, mpfr_prec_t only)
{
    static const mpfr_prec_t bits[] = {64, 128, 256, 512, 1024, 3072};
    static const size_t sizes[] = {4, 6, 8, 12, 16, 32, 64, 128, 256, 512};
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
                bench_shape(run, &(Shape){name, n, n, n, NUMBERS_FULL, NUMBERS_FULL, 1}, bits[p]);
            }
        }
    }
}

/* Weights of 24 bits, as trained ones are, take one digit of 52 bits where doubles take two. */
static void bench_weights(BenchRun *run, mpfr_prec_t bits)
{
    static const size_t sizes[] = {128, 256, 512};
    print_heading("ns a multiply-add, weights");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        char name[2][32];
        snprintf(name[0], sizeof name[0], "%zu, doubles", n);
        snprintf(name[1], sizeof name[1], "%zu, floats", n);
        double doubles =
            bench_shape(run, &(Shape){name[0], n, n, n, NUMBERS_FULL, NUMBERS_DOUBLES, 1}, bits);
        double floats =
            bench_shape(run, &(Shape){name[1], n, n, n, NUMBERS_FULL, NUMBERS_FLOATS, 1}, bits);
        bench_aim(run, doubles >= FLOATS_FASTER * floats,
                  "n = %zu, %ld bits: float weights %.2f times as fast as doubles; aim: %g", n,
                  (long)bits, doubles / floats, FLOATS_FASTER);
    }
}

/* GPT-2 small's sizes; causal masks are not used. */
static void bench_transformer(BenchRun *run, mpfr_prec_t bits)
{
    enum { N = 1024, D = 768, H = 3072, HEADS = 12, LAYERS = 12 };
    static const Shape shapes[] = {
        {"X W_Q|K|V, all heads", N, D, 3 * D, NUMBERS_FULL, NUMBERS_DOUBLES, 1},
        {"scores Q K^T, a head", N, 64, N, NUMBERS_FULL, NUMBERS_FULL, HEADS},
        {"pattern V, a head", N, N, 64, NUMBERS_PATTERN, NUMBERS_FULL, HEADS},
        {"Z W_O, all heads", N, D, D, NUMBERS_FULL, NUMBERS_DOUBLES, 1},
        {"X W_in", N, D, H, NUMBERS_FULL, NUMBERS_DOUBLES, 1},
        {"SiLU(..) W_out", N, H, D, NUMBERS_FULL, NUMBERS_DOUBLES, 1},
    };
    double layer = 0, work = 0;
    print_heading("ns a multiply-add, GPT-2");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const Shape *s = &shapes[i];
        layer += (double)s->times * bench_shape(run, s, bits);
        work += (double)s->times * multiply_adds(s);
    }
    printf("all products of %d layers at %ld bits: %.1f s for %.3g multiply-adds, %.3f ns each\n",
           LAYERS, (long)bits, LAYERS * layer, LAYERS * work, 1e9 * layer / work);
    double exps = LAYERS * ((double)HEADS * N * N + (double)N * H);
    bench_exp_heading();
    printf("and %.3g exps: %.1f s\n", exps, 1e-9 * exps * bench_exp(run, bits));
}

int main(int argc, char **argv)
{
    static const mpfr_prec_t exp_bits[] = {128, 256, 512, 1024, 3072};
    BenchRun run;
    bench_start(&run, argc, argv,
                "operation,m,k,n,weights,bits,threads,by,ns,loop_over,over_dgemm,"
                "chosen,aim,met");
    long bits = run.count > 1 ? strtol(run.arguments[1], NULL, 10) : 0;
    printf("one thread, least of several runs; OpenBLAS core %s (%s)\n", blas_core(),
           blas_core_origin());
    if (bench_wants(&run, "squares")) {
        bench_squares(&run, bits);
    }
    if (bench_wants(&run, "weights")) {
        bench_weights(&run, bits == 0 ? 256 : bits);
    }
    if (bench_wants(&run, "transformer")) {
        bench_transformer(&run, bits == 0 ? 256 : bits);
    }
    if (bench_wants(&run, "exp")) {
        bench_exp_heading();
        for (size_t p = 0; p < sizeof exp_bits / sizeof *exp_bits; p++) {
            bench_exp(&run, exp_bits[p]);
        }
    }
    return bench_finish(&run);
}
