/*
 * exp of vectors.
 */
#include "bench_exp.h"

#include "../../reference/product/vexp.h"
#include "bench_numbers.h"

#include <math.h>

enum { COUNT = 4000, RUNS = 10 };
enum { BY_MPFR, BY_AP_EXP, BY_VEXP, WAYS };

static const char *const names[WAYS] = {"mpfr_exp", "ap_exp", "vexp"};

typedef struct {
    ApMat x, y;
    VectorExp *vector;
    ApExp *alone;
} Exps;

/* Seconds of COUNT calls. */
static double time_way(Exps *e, int way)
{
    double start = bench_cpu_seconds();
    if (way == BY_VEXP) {
        vexp(e->vector, e->y.entry, e->x.entry, COUNT);
        return bench_cpu_seconds() - start;
    }
    for (size_t i = 0; i < COUNT; i++) {
        if (way == BY_MPFR) {
            mpfr_exp(e->y.entry + i, e->x.entry + i, MPFR_RNDN);
        } else {
            ap_exp(e->alone, e->y.entry + i, e->x.entry + i);
        }
    }
    return bench_cpu_seconds() - start;
}

void bench_exp_heading(void)
{
    printf("\nns an exp\n%5s %9s %9s %9s %10s\n", "bits", names[BY_MPFR], names[BY_AP_EXP],
           names[BY_VEXP], "mpfr_exp/");
}

static void report(BenchRun *run, mpfr_prec_t bits, const double ns[WAYS])
{
    printf("%5ld", (long)bits);
    for (int way = 0; way < WAYS; way++) {
        char number[BENCH_CELL], mpfr[BENCH_CELL];
        printf(" %9.1f", ns[way]);
        bench_row(run, "exp,%d,,,,%ld,1,%s,%s,%s,,,,", COUNT, (long)bits, names[way],
                  bench_cell(number, ns[way]), bench_cell(mpfr, ns[BY_MPFR] / ns[way]));
    }
    printf(" %10.1f\n", ns[BY_MPFR] / ns[BY_VEXP]);
    fflush(stdout);
}

/* The least of RUNS runs each, on fresh arguments below 64. */
double bench_exp(BenchRun *run, mpfr_prec_t bits)
{
    uint64_t state = 1;
    double ns[WAYS] = {INFINITY, INFINITY, INFINITY};
    ApExp *alone = ap_exp_create(bits);
    Exps e = {.vector = vexp_create(bits, alone), .alone = alone};
    ap_init(&e.x, 1, COUNT, bits);
    ap_init(&e.y, 1, COUNT, bits);
    for (int i = 0; i < WAYS * RUNS; i++) {
        int way = i % WAYS;
        numbers_fill(&e.x, NUMBERS_FULL, &state);
        for (size_t j = 0; j < COUNT; j++) {
            mpfr_mul_ui(e.x.entry + j, e.x.entry + j, 10, MPFR_RNDN);
        }
        ns[way] = fmin(ns[way], 1e9 * time_way(&e, way) / COUNT);
    }
    report(run, bits, ns);
    vexp_free(e.vector);
    ap_exp_free(alone);
    ap_clear(&e.x);
    ap_clear(&e.y);
    return ns[BY_VEXP];
}
