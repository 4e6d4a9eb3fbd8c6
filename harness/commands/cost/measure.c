/*
 * One pass of a model timed, where it fits in memory.
 */
#include <stdio.h>

#include "cost.h"

#include "../../base/memory.h"
#include "../../base/message.h"
#include "../../base/progress.h"
#include "../../evaluate/predict.h"

#include <math.h>

/* Both models in turns, until the runs have taken this long together; the first may be cold. */
#define RUNS_LEAST 2
#define RUNS_MOST 25
#define SECONDS_ENOUGH 4.0

/* One pass's longest time, on a core that takes so many times what the arithmetic's row says. */
#define SECONDS_MOST 600.0
#define SLOW 3
#define OMEGA 1000.0

/* Seconds of one pass over all layers. */
static double time_pass(const ArithmeticInfo *machine, const Model *model, const double *x,
                        KernelForm form)
{
    Kernel *kernel = arithmetic_open(machine, &(Start){model, x, NULL, OMEGA}, form, 1);
    double start = clock_seconds();
    for (size_t l = 0; l < model->depth; l++) {
        (void)machine->functions->layer(kernel);
    }
    double seconds = clock_seconds() - start;
    machine->functions->clear(kernel);
    return seconds;
}

static void time_form(CostTimes *times, const ArithmeticInfo *machine, const Pair *pair,
                      KernelForm form)
{
    double spent = 0;
    times->original = times->converted = INFINITY;
    for (int run = 0; run < RUNS_MOST && (run < RUNS_LEAST || spent < SECONDS_ENOUGH); run++) {
        double a = time_pass(machine, &pair->original, pair->original_x, form);
        double b = time_pass(machine, &pair->converted, pair->converted_x, form);
        times->original = fmin(times->original, a);
        times->converted = fmin(times->converted, b);
        spent += a + b;
    }
    times->timed = true;
}

/* Says why a form cannot be timed. */
static bool form_fits(const Cost *cost, const ArithmeticInfo *machine, KernelForm form)
{
    if (form == KERNEL_DENSE && case_rotary_width(&cost->point->spec) > 0) {
        fprintf(stderr, "headproof: --measure: the dense form is not timed: with rotary positions "
                        "no matrix Q is that of all positions\n");
        return false;
    }
    const double gib = 1024.0 * 1024 * 1024;
    double memory = memory_room(0);
    double seconds =
        SLOW *
        (mpz_get_d(cost->converted.counts[COST_MULTIPLY_ADDS + form]) * machine->multiply_add +
         mpz_get_d(cost->converted.counts[COST_EXPONENTIALS + form]) * machine->exponential);
    Point point = *cost->point;
    point.kernel = form;
    double bytes = point_pass_bytes(&point);
    bool fits = bytes <= memory && seconds <= SECONDS_MOST;
    if (!fits) {
        fprintf(stderr,
                "headproof: --measure: the %s form is not timed: a pass takes about %.3g GiB (%.3g "
                "may be used) and %.2g s (at most %g)\n",
                axis_info(AXIS_KERNEL)->domain.words[form], bytes / gib, memory / gib, seconds,
                SECONDS_MOST);
    }
    return fits;
}

int cost_measure(Cost *cost)
{
    Pair pair;
    const char *reason;
    const ArithmeticInfo *machine = arithmetic_info(cost->point->arithmetic);
    const bool dense = form_fits(cost, machine, KERNEL_DENSE);
    const bool structured = form_fits(cost, machine, KERNEL_STRUCTURED);
    if (!dense && !structured) {
        return 2;
    }
    bool ok = case_build(&pair, &reason, &cost->point->spec) == CASE_OK;
    if (ok && dense) {
        time_form(&cost->times[KERNEL_DENSE], machine, &pair, KERNEL_DENSE);
    }
    if (ok && structured) {
        time_form(&cost->times[KERNEL_STRUCTURED], machine, &pair, KERNEL_STRUCTURED);
    }
    case_clear(&pair);
    cost->measured = true;
    return ok ? 0 : memory_fault();
}
