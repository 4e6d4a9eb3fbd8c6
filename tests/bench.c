/*
 * Time per point: one layer of T', dense and structured, in double and in MPFR, at three sizes,
 * in one run, with their ratios; r(T') by its difference from r(T_infinity) at two Omegas; and
 * layers in double against the dgemms they are made of.  Each figure is the median of several runs,
 * on one thread unless it says two.
 */
#include "../cases/case.h"
#include "../harness/clock.h"
#include "../kernels/blas.h"
#include "../kernels/kernel.h"
#include "../reference/reference.h"
#include "bench_gemms.h"

#include <stdio.h>
#include <stdlib.h>

enum { BITS = 256, RUNS = 7, NEAR, FAR };
#define OMEGA 1000.0
#define FAR_OMEGA 1e6
#define ENOUGH_SECONDS 1.0

static void out_of_memory(void)
{
    fprintf(stderr, "bench: memory is short\n");
    exit(99);
}

static Pair build(const CaseSpec *spec)
{
    Pair pair;
    const char *reason;
    if (case_build(&pair, &reason, spec) != CASE_OK) {
        fprintf(stderr, "bench: %s\n", reason);
        exit(99);
    }
    return pair;
}

/* One layer of T'; returns its seconds, set-up included (a user pays for it too). */
typedef double Timed(const Pair *pair, int form);

static double time_kernel(const Pair *pair, int form)
{
    double start = clock_seconds();
    Kernel *kernel =
        kernel_open(&pair->converted, pair->converted_x, NULL, OMEGA, (KernelForm)form);
    if (kernel == NULL) {
        out_of_memory();
    }
    kernel_layer(kernel);
    double seconds = clock_seconds() - start;
    kernel_clear(kernel);
    return seconds;
}

static double time_reference(const Pair *pair, int form)
{
    double start = clock_seconds();
    RefRun *run =
        ref_run_open(&pair->converted, pair->converted_x, NULL, OMEGA, BITS, (RefForm)form);
    if (run == NULL) {
        out_of_memory();
    }
    ref_run_layer(run);
    double seconds = clock_seconds() - start;
    ref_run_clear(run);
    return seconds;
}

/* The same by its difference from r(T_infinity), near or far. */
static double time_difference(const Pair *pair, int distance)
{
    double start = clock_seconds(), omega = distance == NEAR ? OMEGA : FAR_OMEGA;
    RefRun *run = ref_difference_open(&pair->converted, pair->converted_x, NULL, omega, BITS, NULL);
    if (run == NULL) {
        out_of_memory();
    }
    ref_run_layer(run);
    double seconds = clock_seconds() - start;
    ref_run_clear(run);
    return seconds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of up to RUNS runs, fewer when one takes long. */
static double median_time(Timed *timed, const Pair *pair, int form)
{
    double seconds[RUNS], total = 0;
    int runs = 0;
    while (runs < RUNS && (runs == 0 || total < ENOUGH_SECONDS)) {
        seconds[runs] = timed(pair, form);
        total += seconds[runs++];
    }
    qsort(seconds, (size_t)runs, sizeof *seconds, compare);
    return seconds[runs / 2];
}

static void bench_case(Construction construction, size_t n, size_t d)
{
    CaseSpec spec = {.construction = construction,
                     .n = n,
                     .d = d,
                     .d_ff = 4 * d,
                     .heads = 2,
                     .depth = 1,
                     .seed = 1,
                     .weights = WEIGHTS_STABLE};
    Pair pair = build(&spec);
    double f64_dense = median_time(time_kernel, &pair, KERNEL_DENSE);
    double f64_structured = median_time(time_kernel, &pair, KERNEL_STRUCTURED);
    double mpfr_dense = median_time(time_reference, &pair, REF_DENSE);
    double mpfr_structured = median_time(time_reference, &pair, REF_STRUCTURED);
    double near = median_time(time_difference, &pair, NEAR);
    double far = median_time(time_difference, &pair, FAR);
    printf(
        "%-12s %4zu %4zu %5zu  %9.3f %9.3f %6.1f  %10.1f %9.2f %6.1f  %8.0f  %9.2f %9.2f %6.2f\n",
        construction_info(construction)->name, n, d, spec.d_ff, 1e3 * f64_dense,
        1e3 * f64_structured, f64_dense / f64_structured, 1e3 * mpfr_dense, 1e3 * mpfr_structured,
        mpfr_dense / mpfr_structured, mpfr_dense / f64_dense, 1e3 * near, 1e3 * far,
        far / mpfr_structured);
    fflush(stdout);
    case_clear(&pair);
}

/* One layer of m(T) or m(T'), and the dgemms it is made of. */
typedef struct {
    double seconds, ratio;
    Gemms gemms;
} Share;

static int compare_shares(const void *a, const void *b)
{
    return compare(&((const Share *)a)->ratio, &((const Share *)b)->ratio);
}

static double time_layer(Kernel *kernel)
{
    if (kernel == NULL) {
        out_of_memory();
    }
    double start = clock_seconds();
    kernel_layer(kernel);
    return clock_seconds() - start;
}

/* The median of RUNS layers by their ratio to their dgemms. */
static Share median_share(const Model *model, const double *x, KernelForm form)
{
    Share shares[RUNS];
    for (int run = 0; run < RUNS; run++) {
        Share *share = &shares[run];
        Kernel *kernel = kernel_open(model, x, NULL, OMEGA, form);
        gemms_note();
        share->seconds = time_layer(kernel);
        share->gemms = gemms_again();
        share->ratio = share->seconds / share->gemms.seconds;
        kernel_clear(kernel);
    }
    qsort(shares, RUNS, sizeof *shares, compare_shares);
    return shares[RUNS / 2];
}

static double time_on_two_threads(const Model *model, const double *x, KernelForm form)
{
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++) {
        Kernel *kernel = kernel_open_threads(model, x, NULL, OMEGA, form, 2);
        seconds[run] = time_layer(kernel);
        kernel_clear(kernel);
    }
    qsort(seconds, RUNS, sizeof *seconds, compare);
    return seconds[RUNS / 2];
}

static void bench_share(const char *what, const Model *model, const double *x, KernelForm form)
{
    Share share = median_share(model, x, form);
    double two = time_on_two_threads(model, x, form);
    printf("%-34s %9.3f %9.3f %6.2f  %6zu %9.3f %8.1f  %9.3f\n", what, 1e3 * share.seconds,
           1e3 * share.gemms.seconds, share.ratio, share.gemms.calls, 1e-9 * share.gemms.flops,
           1e-9 * share.gemms.flops / share.gemms.seconds, 1e3 * two);
    fflush(stdout);
}

static void bench_dense_share(size_t n, size_t d)
{
    char what[64];
    CaseSpec spec = {.construction = CONSTRUCTION_FUSED,
                     .n = n,
                     .d = d,
                     .d_ff = 4 * d,
                     .heads = 1,
                     .depth = 1,
                     .seed = 1};
    Pair pair = build(&spec);
    snprintf(what, sizeof what, "fused T' %zu %zu %zu, dense", n, d, 4 * d);
    bench_share(what, &pair.converted, pair.converted_x, KERNEL_DENSE);
    case_clear(&pair);
}

/* What is not dgemm: dense at three sizes, structured at that of a small language model. */
static void bench_shares(void)
{
    CaseSpec small = {.construction = CONSTRUCTION_TRANSFORMER,
                      .n = 1024,
                      .d = 768,
                      .d_ff = 3072,
                      .heads = 12,
                      .d_head = 64,
                      .depth = 1,
                      .seed = 1,
                      .mask = MASK_CAUSAL};
    printf("\n%-34s %9s %9s %6s  %6s %9s %8s  %9s\n", "one layer and its dgemms alone, ms", "layer",
           "dgemms", "ratio", "calls", "Gflop", "Gflop/s", "2 threads");
    bench_dense_share(20, 30);
    bench_dense_share(64, 128);
    bench_dense_share(128, 256);
    Pair pair = build(&small);
    bench_share("T  1024 768 3072, structured", &pair.original, pair.original_x, KERNEL_STRUCTURED);
    bench_share("T' 1024 768 3072, structured", &pair.converted, pair.converted_x,
                KERNEL_STRUCTURED);
    case_clear(&pair);
}

int main(int argc, char **argv)
{
    static const Construction constructions[] = {CONSTRUCTION_SILU, CONSTRUCTION_ATTENTION,
                                                 CONSTRUCTION_FFN3, CONSTRUCTION_FUSED};
    static const size_t sizes[3][2] = {{8, 12}, {20, 30}, {32, 48}};
    (void)argc;
    blas_setup(argv);
    ref_thread_setup();
    printf("one layer of T', omega %g, one thread, milliseconds (median); OpenBLAS core %s (%s); "
           "reference at %d bits\n",
           OMEGA, blas_core(), blas_core_origin(), BITS);
    printf("%-12s %4s %4s %5s  %9s %9s %6s  %10s %9s %6s  %8s  %9s %9s %6s\n", "construction", "N",
           "D", "H", "f64 dense", "struct.", "ratio", "MPFR dense", "struct.", "ratio", "MPFR/f64",
           "e at 1e3", "e at 1e6", "ratio");
    for (size_t s = 0; s < 3; s++) {
        for (size_t c = 0; c < sizeof constructions / sizeof *constructions; c++) {
            bench_case(constructions[c], sizes[s][0], sizes[s][1]);
        }
    }
    ref_thread_clear();
    bench_shares();
    return 0;
}
