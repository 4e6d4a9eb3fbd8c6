/*
 * Time per point: one layer of T', in double (dense and structured) and in MPFR, at three sizes, in
 * one run, with their ratios; r(T') by its difference from r(T_infinity) at two Omegas, with the
 * limit evaluated beside it and taken from a base; layers in double against the dgemms they are
 * made of; min-omega; and many small evaluations.  Each figure is the median of several runs, in
 * processor time, on one thread unless it says otherwise.
 *
 *     HEADPROOF=PROGRAM bench [-o FILE.csv] [layers | shares | arithmetics | min-omega | many]
 *
 * Without a program, none of the last two.
 */
#include "bench.h"

#include "../../harness/base/progress.h"
#include "../../kernels/blas.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BITS = 256 };
#define OMEGA 1e3
#define FAR_OMEGA 1e6
#define ENOUGH_SECONDS 1.0

enum { F64, F64_STRUCTURED, PLAIN, NEAR, FAR, NEAR_BASE, FAR_BASE, EVALUATIONS };

/* against: the one that a ratio is to, itself where there is none.  aim: of fused N = 20, D =
 * 30. */
static const struct {
    const char *name;
    enum { KERNEL, REFERENCE, DIFFERENCE, DIFFERENCE_FROM_BASE } kind;
    int form;
    double omega;
    int against;
    Aim aim;
} evaluations[EVALUATIONS] = {
    [F64] = {"m(T') dense", KERNEL, KERNEL_DENSE, OMEGA, F64_STRUCTURED, {0}},
    [F64_STRUCTURED] = {"m(T') structured", KERNEL, KERNEL_STRUCTURED, OMEGA, F64_STRUCTURED, {0}},
    [PLAIN] = {"r(T') structured", REFERENCE, 0, OMEGA, PLAIN, {.ms_at_most = 16}},
    [NEAR] = {"e and its limit", DIFFERENCE, 0, OMEGA, PLAIN, {.times_at_most = 2}},
    [FAR] = {"e and its limit", DIFFERENCE, 0, FAR_OMEGA, PLAIN, {.times_at_most = 2}},
    [NEAR_BASE] =
        {"e from a kept limit", DIFFERENCE_FROM_BASE, 0, OMEGA, PLAIN, {.times_at_most = 2}},
    [FAR_BASE] =
        {"e from a kept limit", DIFFERENCE_FROM_BASE, 0, FAR_OMEGA, PLAIN, {.times_at_most = 2}},
};

/* base: r(T_infinity) on a tape. */
typedef struct {
    const Pair *pair;
    RefBase *base;
} Layer;

static double time_kernel(const Layer *layer, int which)
{
    const Model *model = &layer->pair->converted;
    double start = bench_cpu_seconds();
    Kernel *kernel =
        kernel_open(&(Start){model, layer->pair->converted_x, NULL, evaluations[which].omega},
                    (KernelForm)evaluations[which].form, 1);
    kernel_layer(kernel);
    double seconds = bench_cpu_seconds() - start;
    kernel_clear(kernel);
    return seconds;
}

/* One layer of T', set-up included: a user pays for it too. */
static double time_layer(const void *context, int which)
{
    const Layer *layer = context;
    const Model *model = &layer->pair->converted;
    const double *x = layer->pair->converted_x;
    double start = bench_cpu_seconds(), omega = evaluations[which].omega;
    RefRun *run = NULL;
    switch (evaluations[which].kind) {
    case KERNEL: return time_kernel(layer, which);
    case REFERENCE: run = ref_run_open(&(Start){model, x, NULL, omega}, BITS); break;
    case DIFFERENCE: run = ref_difference_open(&(Start){model, x, NULL, omega}, BITS, NULL); break;
    default: run = ref_difference_open(&(Start){model, x, NULL, omega}, BITS, layer->base); break;
    }
    ref_run_layer(run);
    double seconds = bench_cpu_seconds() - start;
    ref_run_clear(run);
    return seconds;
}

static void time_all(double ms[EVALUATIONS], const Pair *pair)
{
    Layer layer = {pair, ref_base_make(pair, BITS, REF_LIMIT_TAPE, NULL)};
    bench_medians(ms, EVALUATIONS, time_layer, &layer, ENOUGH_SECONDS);
    for (int e = 0; e < EVALUATIONS; e++) {
        ms[e] *= 1e3;
    }
    ref_base_clear(layer.base);
}

static void write_all(BenchRun *run, const CaseSpec *spec, const double ms[EVALUATIONS])
{
    bool aimed = spec->construction == CONSTRUCTION_FUSED && spec->n == 20;
    for (int e = 0; e < EVALUATIONS; e++) {
        int against = evaluations[e].against;
        bench_timing(run, &(Timing){.what = evaluations[e].name,
                                    .construction = construction_names[spec->construction],
                                    .n = spec->n,
                                    .d = spec->d,
                                    .d_ff = spec->d_ff,
                                    .threads = 1,
                                    .bits = evaluations[e].kind != KERNEL ? BITS : 0,
                                    .omega = evaluations[e].omega,
                                    .milliseconds = ms[e],
                                    .against = against == e ? NULL : evaluations[against].name,
                                    .times = ms[e] / ms[against],
                                    .aim = aimed ? evaluations[e].aim : (Aim){0}});
    }
}

static void bench_case(BenchRun *run, Construction construction, size_t n, size_t d)
{
    CaseSpec spec = {.construction = construction,
                     .n = n,
                     .d = d,
                     .d_ff = 4 * d,
                     .heads = 2,
                     .depth = 1,
                     .seed = 1,
                     .weights = WEIGHTS_STABLE};
    double ms[EVALUATIONS];
    Pair pair = bench_pair(&spec);
    time_all(ms, &pair);
    write_all(run, &spec, ms);
    printf("%-12s %4zu %4zu %5zu %8.3f %8.3f %6.1f %8.2f %8.2f %8.2f %6.2f %8.2f %8.2f %6.2f\n",
           construction_names[construction], n, d, spec.d_ff, ms[F64], ms[F64_STRUCTURED],
           ms[F64] / ms[F64_STRUCTURED], ms[PLAIN], ms[NEAR], ms[FAR], ms[FAR] / ms[PLAIN],
           ms[NEAR_BASE], ms[FAR_BASE], ms[FAR_BASE] / ms[PLAIN]);
    fflush(stdout);
    case_clear(&pair);
}

void bench_timing(BenchRun *run, const Timing *t)
{
    char aim[64] = "", size[64] = "", omega[BENCH_CELL], times[BENCH_CELL];
    bool met = true;
    if (t->aim.times_at_least > 0) {
        met = t->times >= t->aim.times_at_least;
        snprintf(aim, sizeof aim, "times >= %g", t->aim.times_at_least);
    } else if (t->aim.times_at_most > 0) {
        met = t->times <= t->aim.times_at_most;
        snprintf(aim, sizeof aim, "times <= %g", t->aim.times_at_most);
    } else if (t->aim.ms_at_most > 0) {
        met = t->milliseconds <= t->aim.ms_at_most;
        snprintf(aim, sizeof aim, "milliseconds <= %g", t->aim.ms_at_most);
    }
    bench_cell(omega, t->omega > 0 ? t->omega : NAN);
    bench_cell(times, t->against != NULL ? t->times : NAN);
    snprintf(size, sizeof size, "%zu,%zu,%zu", t->n, t->d, t->d_ff);
    bench_row(run, "%s,%s,%s,%d,%.0ld,%s,%.4g,%s,%s,%s,%s", t->what, t->construction, size,
              t->threads, t->bits, omega, t->milliseconds, t->against != NULL ? t->against : "",
              times, aim,
              *aim == '\0' ? ""
              : met        ? "yes"
                           : "no");
    if (*aim != '\0') {
        bench_aim(run, met, "%-19s %-7s N=%zu D=%zu omega %-5s %9.4g ms%s%s%s%s; aim: %s", t->what,
                  t->construction, t->n, t->d, omega, t->milliseconds,
                  t->against != NULL ? ", " : "", times, t->against != NULL ? " times " : "",
                  t->against != NULL ? t->against : "", aim);
    }
}

/* Wall time of the whole command, as a user starts it: on every core, although this process may be
 * bound to one. */
static double time_min_omega(const void *context, int which)
{
    static const char command[] =
        "taskset -c 0-$(($(nproc --all) - 1)) env OMP_PROC_BIND=true \"$HEADPROOF\" min-omega "
        "--construction silu,linear,attention,ffn3,fused,transformer3,transformer --n 20 --d 30 "
        "--tolerance 1e-10 --quiet -o /dev/null";
    double start = clock_seconds();
    (void)context;
    (void)which;
    if (system(command) != 0) {
        bench_fail("min-omega failed");
    }
    return clock_seconds() - start;
}

static void bench_min_omega(BenchRun *run)
{
    double seconds;
    if (getenv("HEADPROOF") == NULL) {
        printf("\nmin-omega: HEADPROOF names no program\n");
        return;
    }
    bench_medians(&seconds, 1, time_min_omega, NULL, 10);
    Timing timing = {.what = "min-omega",
                     .construction = "all",
                     .n = 20,
                     .d = 30,
                     .d_ff = 120,
                     .threads = (int)sysconf(_SC_NPROCESSORS_ONLN),
                     .milliseconds = 1e3 * seconds,
                     .aim = {.ms_at_most = 2000}};
    bench_timing(run, &timing);
    printf("\nmin-omega of the seven constructions, N = 20, D = 30, tolerance 1e-10: %.2f s\n",
           seconds);
}

/* Commands of many small evaluations, on one thread. */
static const struct {
    const char *what, *construction, *command;
    size_t n, d, d_ff;
    double count;
    Aim aim;
} many[] = {
    {"an input of verify",
     "transformer",
     "\"$HEADPROOF\" verify cases/models/modadd53-silu.safetensors --tokens 0:15/0:52/53 --omega "
     "20 "
     "--tolerance 1e-9 --threads 1 --quiet -o /dev/null",
     3,
     64,
     256,
     848,
     {.ms_at_most = 2}},
    {"a point of sweep",
     "fused",
     "\"$HEADPROOF\" sweep --construction fused --n 20 --d 30 --omega 20 --kernel structured "
     "--threads 1 --quiet -o /dev/null --seed $(seq -s, 1 200)",
     20,
     30,
     120,
     200,
     {.ms_at_most = 4}},
};

/* Processor time of the children that have ended. */
static double children_seconds(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage) != 0) {
        bench_fail("getrusage failed");
    }
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double time_many(const void *context, int which)
{
    double start = children_seconds();
    (void)context;
    if (system(many[which].command) != 0) {
        bench_fail(many[which].command);
    }
    return children_seconds() - start;
}

static void bench_many(BenchRun *run)
{
    enum { COMMANDS = sizeof many / sizeof *many };
    double seconds[COMMANDS];
    if (getenv("HEADPROOF") == NULL) {
        printf("\nmany: HEADPROOF names no program\n");
        return;
    }
    bench_medians(seconds, COMMANDS, time_many, NULL, 10);
    printf("\nmany small evaluations, one thread, processor time\n");
    for (int i = 0; i < COMMANDS; i++) {
        Timing timing = {.what = many[i].what,
                         .construction = many[i].construction,
                         .n = many[i].n,
                         .d = many[i].d,
                         .d_ff = many[i].d_ff,
                         .threads = 1,
                         .omega = 20,
                         .milliseconds = 1e3 * seconds[i] / many[i].count,
                         .aim = many[i].aim};
        bench_timing(run, &timing);
        printf("%-20s %8.3f ms\n", many[i].what, timing.milliseconds);
    }
}

static void bench_layers(BenchRun *run)
{
    static const Construction constructions[] = {CONSTRUCTION_SILU, CONSTRUCTION_ATTENTION,
                                                 CONSTRUCTION_FFN3, CONSTRUCTION_FUSED};
    static const size_t sizes[3][2] = {{8, 12}, {20, 30}, {32, 48}};
    printf("one layer of T', omega %g, one thread, milliseconds (median); OpenBLAS core %s (%s); "
           "reference at %d bits\n",
           OMEGA, blas_core(), blas_core_origin(), BITS);
    printf("%-12s %4s %4s %5s %8s %8s %6s %9s %8s %6s %7s %8s %8s %6s %8s %8s %6s\n",
           "construction", "N", "D", "H", "f64", "struct.", "ratio", "MPFR", "struct.", "ratio",
           "/f64", "e at 1e3", "e at 1e6", "ratio", "base:1e3", "1e6", "ratio");
    for (size_t s = 0; s < 3; s++) {
        for (size_t c = 0; c < sizeof constructions / sizeof *constructions; c++) {
            bench_case(run, constructions[c], sizes[s][0], sizes[s][1]);
        }
    }
}

int main(int argc, char **argv)
{
    BenchRun run;
    bench_start(&run, argc, argv, TIMING_COLUMNS);
    if (bench_wants(&run, "layers")) {
        bench_layers(&run);
    }
    if (bench_wants(&run, "shares")) {
        bench_shares(&run);
    }
    if (bench_wants(&run, "arithmetics")) {
        bench_arithmetics(&run);
    }
    if (bench_wants(&run, "min-omega")) {
        bench_min_omega(&run);
    }
    if (bench_wants(&run, "many")) {
        bench_many(&run);
    }
    return bench_finish(&run);
}
