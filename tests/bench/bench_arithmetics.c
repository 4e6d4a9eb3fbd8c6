/*
 * Time of a layer of T' in every machine arithmetic, by the heads' structure.
 */
#include "bench.h"

#include "../../kernels/kernel.h"

#define OMEGA 20.0
#define ENOUGH_SECONDS 2.0

/* What each is to be compared with, and how: float is faster than double, and 16 bits, which are
 * rounded floats, cost no more than so much. */
static const struct {
    Arithmetic arithmetic, against;
    double at_least, at_most; /* times that; 0: any */
} measured[] = {
    {ARITHMETIC_F64, ARITHMETIC_F32, 1.6, 0},         {ARITHMETIC_F32, ARITHMETIC_F32, 0, 0},
    {ARITHMETIC_BF16, ARITHMETIC_F32, 0, 3},          {ARITHMETIC_FP16, ARITHMETIC_F32, 0, 3},
    {ARITHMETIC_BF16_FLASH, ARITHMETIC_F32, 0, 3},    {ARITHMETIC_FP16_FLASH, ARITHMETIC_F32, 0, 3},
    {ARITHMETIC_BF16_AUTOCAST, ARITHMETIC_F32, 0, 3},
};

enum { MEASURED = sizeof measured / sizeof *measured, F32_PLACE = 1 };

/* One layer of T', set-up included. */
static double time_arithmetic(const void *context, int which)
{
    const Pair *pair = context;
    const ArithmeticInfo *machine = arithmetic_info(measured[which].arithmetic);
    double start = bench_cpu_seconds();
    Kernel *kernel = arithmetic_open(
        machine, &(Start){&pair->converted, pair->converted_x, NULL, OMEGA}, KERNEL_STRUCTURED, 1);
    (void)machine->functions->layer(kernel);
    double seconds = bench_cpu_seconds() - start;
    machine->functions->clear(kernel);
    return seconds;
}

static void bench_construction(BenchRun *run, Construction construction)
{
    CaseSpec spec = {.construction = construction,
                     .n = 256,
                     .d = 256,
                     .d_ff = 1024,
                     .heads = 4,
                     .d_head = 64,
                     .depth = 1,
                     .seed = 1};
    double seconds[MEASURED];
    Pair pair = bench_pair(&spec);
    bench_medians(seconds, MEASURED, time_arithmetic, &pair, ENOUGH_SECONDS);
    printf("%-12s", construction_names[construction]);
    for (int m = 0; m < MEASURED; m++) {
        char what[64], against[64];
        snprintf(what, sizeof what, "m(T') %s", arithmetic_names[measured[m].arithmetic]);
        snprintf(against, sizeof against, "m(T') %s", arithmetic_names[measured[m].against]);
        bench_timing(run, &(Timing){.what = what,
                                    .construction = construction_names[construction],
                                    .n = spec.n,
                                    .d = spec.d,
                                    .d_ff = spec.d_ff,
                                    .threads = 1,
                                    .omega = OMEGA,
                                    .milliseconds = 1e3 * seconds[m],
                                    .against = m == F32_PLACE ? NULL : against,
                                    .times = seconds[m] / seconds[F32_PLACE],
                                    .aim = {.times_at_least = measured[m].at_least,
                                            .times_at_most = measured[m].at_most}});
        printf(" %13.2f", 1e3 * seconds[m]);
    }
    printf("\n");
    case_clear(&pair);
}

void bench_arithmetics(BenchRun *run)
{
    printf("\none layer of T', structured, N = 256, D = 256, H = 1024, one thread, milliseconds\n"
           "%-12s",
           "construction");
    for (int m = 0; m < MEASURED; m++) {
        printf(" %13s", arithmetic_names[measured[m].arithmetic]);
    }
    printf("\n");
    bench_construction(run, CONSTRUCTION_ATTENTION);
    bench_construction(run, CONSTRUCTION_FUSED);
    bench_construction(run, CONSTRUCTION_TRANSFORMER);
}
