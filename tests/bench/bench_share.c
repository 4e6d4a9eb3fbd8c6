/*
 * The share of a kernel's time that its products of doubles take.
 */
#include "bench.h"

#include "../../harness/base/progress.h"
#include "../../kernels/kernel.h"
#include "bench_gemms.h"

#include <stdlib.h>

enum { RUNS = 7, SHARES = 101 };
#define OMEGA 1000.0
#define ENOUGH_SECONDS 1.0

/* One layer of m(T) or m(T'), and the dgemms it is made of. */
typedef struct {
    double seconds, ratio;
    Gemms gemms;
} Share;

static int compare_shares(const void *a, const void *b)
{
    return bench_compare(&((const Share *)a)->ratio, &((const Share *)b)->ratio);
}

/* The median, by their ratio to their dgemms, of up to SHARES layers, and of at least RUNS. */
static Share median_share(const Model *model, const double *x, KernelForm form)
{
    Share shares[SHARES];
    double total = 0;
    size_t runs = 0;
    while (runs < RUNS || (runs < SHARES && total < ENOUGH_SECONDS)) {
        Share *share = &shares[runs++];
        Kernel *kernel = kernel_open(&(Start){model, x, NULL, OMEGA}, form, 1);
        gemms_note();
        double start = bench_cpu_seconds();
        kernel_layer(kernel);
        share->seconds = bench_cpu_seconds() - start;
        share->gemms = gemms_again();
        share->ratio = share->seconds / share->gemms.seconds;
        total += share->seconds;
        kernel_clear(kernel);
    }
    qsort(shares, runs, sizeof *shares, compare_shares);
    return shares[runs / 2];
}

/* Wall time, the only one there is of two threads. */
static double time_on_two_threads(const Model *model, const double *x, KernelForm form)
{
    double seconds[RUNS];
    for (int run = 0; run < RUNS; run++) {
        Kernel *kernel = kernel_open(&(Start){model, x, NULL, OMEGA}, form, 2);
        double start = clock_seconds();
        kernel_layer(kernel);
        seconds[run] = clock_seconds() - start;
        kernel_clear(kernel);
    }
    qsort(seconds, RUNS, sizeof *seconds, bench_compare);
    return seconds[RUNS / 2];
}

static void bench_share(BenchRun *run, const char *what, const CaseSpec *spec, KernelForm form,
                        bool original)
{
    Pair pair = bench_pair(spec);
    const Model *model = original ? &pair.original : &pair.converted;
    const double *x = original ? pair.original_x : pair.converted_x;
    Share share = median_share(model, x, form);
    double two = time_on_two_threads(model, x, form);
    const char *name = construction_names[spec->construction];
    Timing timing = {.what = what,
                     .construction = name,
                     .n = spec->n,
                     .d = spec->d,
                     .d_ff = spec->d_ff,
                     .threads = 1,
                     .omega = OMEGA,
                     .milliseconds = 1e3 * share.seconds,
                     .against = "its dgemms alone",
                     .times = share.ratio,
                     .aim = {.times_at_most = form == KERNEL_DENSE ? 1.3 : 0}};
    bench_timing(run, &timing);
    timing.threads = 2;
    timing.milliseconds = 1e3 * two;
    timing.against = "on one thread";
    timing.times = two / share.seconds;
    timing.aim = (Aim){0};
    bench_timing(run, &timing);
    printf("%-12s %-18s %5zu %5zu %5zu %9.3f %9.3f %6.2f  %6zu %9.3f %8.1f  %9.3f\n", name, what,
           spec->n, spec->d, spec->d_ff, 1e3 * share.seconds, 1e3 * share.gemms.seconds,
           share.ratio, share.gemms.calls, 1e-9 * share.gemms.flops,
           1e-9 * share.gemms.flops / share.gemms.seconds, 1e3 * two);
    fflush(stdout);
    case_clear(&pair);
}

void bench_shares(BenchRun *run)
{
    static const size_t sizes[3][2] = {{20, 30}, {64, 128}, {128, 256}};
    CaseSpec model = {.construction = CONSTRUCTION_TRANSFORMER,
                      .n = 1024,
                      .d = 768,
                      .d_ff = 3072,
                      .heads = 12,
                      .d_head = 64,
                      .depth = 1,
                      .seed = 1,
                      .mask = MASK_CAUSAL};
    printf("\n%-31s %5s %5s %5s %9s %9s %6s  %6s %9s %8s  %9s\n", "one layer and its dgemms, ms",
           "N", "D", "H", "layer", "dgemms", "ratio", "calls", "Gflop", "Gflop/s", "2 threads");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        CaseSpec fused = {.construction = CONSTRUCTION_FUSED,
                          .n = sizes[s][0],
                          .d = sizes[s][1],
                          .d_ff = 4 * sizes[s][1],
                          .heads = 1,
                          .depth = 1,
                          .seed = 1};
        bench_share(run, "m(T') dense", &fused, KERNEL_DENSE, false);
    }
    bench_share(run, "m(T) structured", &model, KERNEL_STRUCTURED, true);
    bench_share(run, "m(T') structured", &model, KERNEL_STRUCTURED, false);
}
