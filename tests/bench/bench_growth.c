/*
 * Does the reference cost what its work is?  The time of r(T') in the structured form, and of the
 * difference e with its limit, against N, D (with H = 4 D), depth, bits and Omega, one of them at a
 * time with the others at a middle size; and the exponents of those times, fitted by least squares
 * in log-log over the larger half of each axis, beside those of the work that point_cost_parts
 * counts: products and exponentials, times what one takes at so many bits.
 *
 *     bench_growth [-o FILE.csv] [N | D | depth | bits | omega]
 *
 * One thread, processor time, set-up included; the median of several runs, or one where that takes
 * long.
 */
#include "bench_run.h"

#include "../../harness/evaluate/predict.h"

#include <math.h>

#define ENOUGH_SECONDS 0.4

typedef enum { GROW_N, GROW_D, GROW_DEPTH, GROW_BITS, GROW_OMEGA, GROW_COUNT } Growth;

enum { VALUES_MOST = 7 };

/* Values in ascending order; the middle size is 64, 64, 2, 256 and 1000. */
static const struct {
    const char *name;
    int count;
    double values[VALUES_MOST];
} axes[GROW_COUNT] = {
    [GROW_N] = {"N", 7, {8, 16, 32, 64, 128, 256, 512}},
    [GROW_D] = {"D", 7, {8, 16, 32, 64, 128, 256, 512}},
    [GROW_DEPTH] = {"depth", 5, {1, 2, 4, 8, 16}},
    [GROW_BITS] = {"bits", 6, {64, 128, 256, 512, 1024, 2048}},
    [GROW_OMEGA] = {"omega", 6, {1e1, 1e2, 1e3, 1e4, 1e5, 1e6}},
};

enum { PLAIN, DIFFERENCE, KINDS };

static const char *const kinds[KINDS] = {"r(T')", "e and its limit"};

typedef struct {
    CaseSpec spec;
    double omega;
    mpfr_prec_t bits;
} Size;

static Size size_on_axis(Construction construction, Growth axis, double value)
{
    Size size = {.spec = {.construction = construction,
                          .n = 64,
                          .d = 64,
                          .heads = 2,
                          .depth = 2,
                          .seed = 1,
                          .mask = MASK_NONE},
                 .omega = 1e3,
                 .bits = 256};
    switch (axis) {
    case GROW_N: size.spec.n = (size_t)value; break;
    case GROW_D: size.spec.d = (size_t)value; break;
    case GROW_DEPTH: size.spec.depth = (size_t)value; break;
    case GROW_BITS: size.bits = (mpfr_prec_t)value; break;
    default: size.omega = value; break;
    }
    size.spec.d_ff = 4 * size.spec.d;
    if (construction == CONSTRUCTION_TRANSFORMER) {
        size.spec.mask = MASK_CAUSAL;
        size.spec.d_head = size.spec.d / size.spec.heads;
    }
    return size;
}

/* The work of r(T'), and of r(T') by the difference. */
static double predicted(const Size *size, int kind)
{
    Point point = {.spec = size->spec,
                   .omega = size->omega,
                   .precision = size->bits,
                   .reference = kind == PLAIN ? REFERENCE_SUBTRACT : REFERENCE_DIFFERENCE};
    return point_cost_parts(&point).reference;
}

typedef struct {
    const Pair *pair;
    const Size *size;
} Evaluation;

static double time_evaluation(const void *context, int kind)
{
    const Evaluation *e = context;
    const Model *model = &e->pair->converted;
    const double *x = e->pair->converted_x;
    double start = bench_cpu_seconds(), omega = e->size->omega;
    RefRun *run = kind == PLAIN
                      ? ref_run_open(&(Start){model, x, NULL, omega}, e->size->bits)
                      : ref_difference_open(&(Start){model, x, NULL, omega}, e->size->bits, NULL);
    for (size_t l = 0; l < e->size->spec.depth; l++) {
        ref_run_layer(run);
    }
    double seconds = bench_cpu_seconds() - start;
    ref_run_clear(run);
    return seconds;
}

/* The slope of log y over log x, by least squares. */
static double fitted_exponent(const double *x, const double *y, int count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double u = log(x[i]), v = log(y[i]);
        sx += u;
        sy += v;
        sxx += u * u;
        sxy += u * v;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

/* seconds, work [KINDS][VALUES_MOST]. */
typedef struct {
    double seconds[KINDS][VALUES_MOST], work[KINDS][VALUES_MOST];
} Curve;

static void measure(BenchRun *run, Curve *curve, Construction construction, Growth axis)
{
    for (int i = 0; i < axes[axis].count; i++) {
        Size size = size_on_axis(construction, axis, axes[axis].values[i]);
        Pair pair = bench_pair(&size.spec);
        double seconds[KINDS];
        bench_medians(seconds, KINDS, time_evaluation, &(Evaluation){&pair, &size}, ENOUGH_SECONDS);
        for (int kind = 0; kind < KINDS; kind++) {
            curve->seconds[kind][i] = seconds[kind];
            curve->work[kind][i] = predicted(&size, kind);
            bench_row(run, "%s,%s,%s,%zu,%zu,%zu,%zu,%ld,%g,1,%.4g,,", kinds[kind],
                      construction_names[construction], axes[axis].name, size.spec.n, size.spec.d,
                      size.spec.d_ff, size.spec.depth, (long)size.bits, size.omega,
                      1e3 * seconds[kind]);
        }
        case_clear(&pair);
    }
}

/* The line of one axis: milliseconds, then the exponents over its larger half. */
static void report(BenchRun *run, const Curve *curve, Construction construction, Growth axis,
                   int kind)
{
    int count = axes[axis].count, fitted = (count + 2) / 2, from = count - fitted;
    const double *x = axes[axis].values + from;
    const char *name = construction_names[construction];
    double found = fitted_exponent(x, curve->seconds[kind] + from, fitted);
    double expected = fitted_exponent(x, curve->work[kind] + from, fitted);
    printf("%-12s %-16s %-6s", name, kinds[kind], axes[axis].name);
    for (int i = 0; i < VALUES_MOST; i++) {
        if (i < count) {
            printf(" %9.3f", 1e3 * curve->seconds[kind][i]);
        } else {
            printf(" %9s", "");
        }
    }
    printf("  %5.2f %5.2f\n", found, expected);
    fflush(stdout);
    bench_row(run, "%s,%s,%s,,,,,,,1,,%.3f,%.3f", kinds[kind], name, axes[axis].name, found,
              expected);
}

static void bench_axis(BenchRun *run, Growth axis)
{
    static const Construction constructions[] = {CONSTRUCTION_SILU, CONSTRUCTION_FUSED,
                                                 CONSTRUCTION_TRANSFORMER};
    printf("\n%-12s %-16s %-6s", "milliseconds", "", axes[axis].name);
    for (int i = 0; i < VALUES_MOST; i++) {
        if (i < axes[axis].count) {
            printf(" %9g", axes[axis].values[i]);
        } else {
            printf(" %9s", "");
        }
    }
    printf("  %5s %5s\n", "found", "work");
    for (size_t c = 0; c < sizeof constructions / sizeof *constructions; c++) {
        Curve curve;
        measure(run, &curve, constructions[c], axis);
        for (int kind = 0; kind < KINDS; kind++) {
            report(run, &curve, constructions[c], axis, kind);
        }
    }
}

int main(int argc, char **argv)
{
    BenchRun run;
    bench_start(&run, argc, argv,
                "evaluation,construction,axis,n,d,d_ff,depth,bits,omega,threads,milliseconds,"
                "exponent_found,exponent_of_work");
    printf(
        "one thread, milliseconds; where an axis does not say otherwise N = 64, D = 64, H = 256, "
        "depth 2, 256 bits, omega 1000\n");
    for (Growth axis = 0; axis < GROW_COUNT; axis++) {
        if (bench_wants(&run, axes[axis].name)) {
            bench_axis(&run, axis);
        }
    }
    return bench_finish(&run);
}
