/*
 * Which Omega is evaluated next, until nothing is left to ask or the evaluations are used up:
 * first a scan for an Omega that meets the tolerance, then as far down and up as it is met, then
 * half of the inside of the interval and around powers of two, its two ends, the other half, and
 * close to the ends.  Where the error is a step function: the two ends, the steps beside them and
 * around powers of two, and the inside.  An Omega inside that does not meet the tolerance cuts the
 * interval, and all of it begins again from there.
 */
#include "omega_search.h"

#include "omega_inside.h"

#include <math.h>

/* The scan begins with steps of sqrt(2), or 2, up to so many times the guess; then by 4.  It
 * is over when so many errors above the best were too large, and far above the best. */
enum { SCAN_FINE = 4, SCAN_STEP = 4, SCAN_PATIENCE = 4 };

/* From here on the scan goes from Omega to Omega^1.5, up to the largest double. */
#define SCAN_FAR 0x1p60

/* Newton's steps on the master curve; tries around the best where none meets the tolerance. */
enum { CURVE_TRIES = 6, REFINE_TRIES = 24 };

/* Tries to meet an end by the master curve, before intervals are only halved. */
enum { STEEP_TRIES = 8 };

void omega_search_clear(OmegaSearch *search)
{
    for (size_t i = 0; i < search->evaluations; i++) {
        ref_cell_clear(&search->trial[i].error);
    }
}

static double lowest(const Trials *search)
{
    return search->trial[0].omega;
}

static double highest(const Trials *search)
{
    return search->trial[search->count - 1].omega;
}

double omega_meets(double omega, const RefCell *error, double tolerance)
{
    long exponent;
    double mantissa = mpfr_get_d_2exp(&exponent, error->value, MPFR_RNDN);
    double log_error = log(mantissa) + (double)exponent * log(2);
    return omega + (log_error - log(tolerance)) / 2;
}

/* The same of a trial. */
static double meets_tolerance(const Trials *search, const Trial *trial)
{
    return omega_meets(trial->omega, &trial->error, search->options->tolerance);
}

/* Have the last errors of the scan been too large, and above 4 times the best? */
static bool has_risen(const Trials *search)
{
    mpfr_t limit;
    size_t above = 0;
    if (search->best == search->count) {
        return search->count >= SCAN_PATIENCE;
    }
    mpfr_init2(limit, 64);
    mpfr_mul_ui(limit, search->trial[search->best].error.value, 4, MPFR_RNDN);
    for (size_t i = search->best + 1; i < search->count; i++) {
        const RefCell *error = &search->trial[i].error;
        bool low = trials_meet(search, error) || mpfr_lessequal_p(error->value, limit);
        above = low ? 0 : above + 1;
    }
    mpfr_clear(limit);
    return above >= SCAN_PATIENCE;
}

/* The next Omega of the scan, upward; 0: it is over. */
static double scan(const Trials *search)
{
    double guess = search->options->guess, step = search->options->powers ? 2 : sqrt(2);
    if (search->count == 0) {
        return omega_fresh(search, guess / step);
    }
    double top = highest(search);
    if (has_risen(search)) {
        return 0;
    }
    return omega_fresh(search, top < SCAN_FINE * guess ? top * step
                               : top < SCAN_FAR        ? top * SCAN_STEP
                                                       : pow(top, 1.5));
}

/* Below, or above, all that has been tried. */
static double go_down(Trials *search)
{
    double next = lowest(search) / search->down;
    search->down *= search->down;
    return omega_fresh(search, next);
}

static double go_up(Trials *search)
{
    double next = highest(search) * search->up;
    search->up *= search->up;
    return omega_fresh(search, next);
}

/* The first Omega of a falling error that meets the tolerance: along the master curve, then by
 * ever longer steps; 0: it has been found, or there is no way. */
static double fall(Trials *search)
{
    if (search->count == 0) {
        return omega_fresh(search, search->options->guess);
    }
    const Trial *top = &search->trial[search->count - 1];
    if (search->best == search->count || trials_meet(search, &search->trial[search->best].error)) {
        return 0;
    }
    if (mpfr_regular_p(top->error.value) && search->tries++ < CURVE_TRIES) {
        double next = meets_tolerance(search, top) * (1 + search->options->bracket / 4);
        if (next > top->omega) {
            return omega_fresh(search, next);
        }
    }
    return go_up(search);
}

/* Around the best, while nothing meets the tolerance: the wider gap beside it. */
static double refine(Trials *search)
{
    size_t best = search->best;
    if (!search->options->rises || best == search->count || search->tries++ >= REFINE_TRIES) {
        return 0;
    }
    if (best == 0 && lowest(search) > search->options->least) {
        return go_down(search);
    }
    double omega = search->trial[best].omega;
    double below = best > 0 ? omega / search->trial[best - 1].omega : 1;
    double above = best + 1 < search->count ? search->trial[best + 1].omega / omega : 1;
    return below > above ? omega_middle(search, best - 1)
           : above > 1   ? omega_middle(search, best)
                         : 0;
}

/* Below the lowest where it meets the tolerance; 0: it does not, or there is nothing below. */
static double below_all(Trials *search)
{
    bool ends = search->first > 0 || lowest(search) <= search->options->least;
    return ends ? 0 : go_down(search);
}

static double above_all(Trials *search)
{
    bool ends = search->last + 1 < search->count || highest(search) >= search->options->most;
    return ends ? 0 : go_up(search);
}

/* Do the two sides of an end differ by more than its bracket? */
static bool is_wide(const Trials *search, size_t good, size_t bad)
{
    double at = search->trial[good].omega;
    return fabs(search->trial[bad].omega - at) > search->options->bracket * at;
}

/* The next Omega between the first that meets the tolerance and its neighbour below.  Where the
 * error falls as the master curve does, it is the curve's guess, moved by a quarter of the bracket
 * to one side and then to the other, so that the two close in on the end. */
static double narrow_min(Trials *search)
{
    const OmegaOptions *options = search->options;
    if (search->first == 0 || !is_wide(search, search->first, search->first - 1)) {
        return 0;
    }
    const Trial *good = &search->trial[search->first], *bad = good - 1;
    if (options->curve && options->format == NULL && mpfr_regular_p(bad->error.value) &&
        search->steep++ < STEEP_TRIES) {
        double side = options->bracket / 4 * (search->last_met ? -1 : 1);
        double guess = omega_fresh(search, meets_tolerance(search, bad) * (1 + side));
        if (guess > bad->omega && guess < good->omega) {
            return guess;
        }
    }
    return omega_toward_end(search, search->first - 1);
}

static double narrow_max(Trials *search)
{
    bool narrow =
        search->last + 1 == search->count || !is_wide(search, search->last, search->last + 1);
    return narrow ? 0 : omega_toward_end(search, search->last);
}

/* The parts of an interval that stay open where the evaluations are used up. */
typedef enum { LOWER_END, UPPER_END, INSIDE, PARTS } Part;

/* The rules for the next Omega once some meet the tolerance, in order: the first that names one
 * decides; 0: a rule names none.  A rule holds for errors that change with every Omega (curved),
 * for step functions (stepped), or for both. */
static const struct {
    double (*next)(Trials *search);
    Part part;
    bool curved, stepped;
} rules[] = {
    {below_all, LOWER_END, true, true},       {above_all, UPPER_END, true, true},
    {omega_half_inside, INSIDE, true, false}, {omega_crossings, INSIDE, true, false},
    {narrow_min, LOWER_END, true, true},      {narrow_max, UPPER_END, true, true},
    {omega_near_ends, INSIDE, false, true},   {omega_crossings, INSIDE, false, true},
    {omega_all_inside, INSIDE, true, true},   {omega_near_ends, INSIDE, true, false},
};
enum { RULES = sizeof rules / sizeof *rules };

/* 0: the search is over. */
static double next_omega(Trials *search)
{
    bool stepped = search->options->format != NULL;
    double omega = search->options->rises ? scan(search) : fall(search);
    if (omega > 0) {
        return omega;
    }
    if (!trials_run(search)) {
        return refine(search);
    }
    for (size_t i = 0; i < RULES && omega == 0; i++) {
        if (stepped ? rules[i].stepped : rules[i].curved) {
            omega = rules[i].next(search);
        }
    }
    return omega;
}

static void count_steps(OmegaSearch *result, const Trials *search)
{
    const OmegaOptions *options = search->options;
    result->format = options->format;
    if (options->format == NULL) {
        return;
    }
    double begin = omega_step(options, search->trial[search->first].omega), step = begin;
    result->stepped = 1;
    for (size_t i = search->first + 1; i <= search->last; i++) {
        double next = omega_step(options, search->trial[i].omega);
        result->stepped += next != step;
        step = next;
    }
    result->steps = step - begin + 1;
}

/* Fills in the result from the evaluated Omegas. */
static void conclude(OmegaSearch *result, Trials *search)
{
    const Trial *trial = result->trial;
    result->evaluations = search->count;
    result->powers = search->options->powers;
    result->best = search->best < search->count ? &trial[search->best] : NULL;
    if (!trials_run(search)) {
        return;
    }
    const size_t first = search->first, last = search->last;
    result->inside = last - first + 1;
    result->min = &trial[first];
    result->max = &trial[last];
    result->below = first > 0 ? &trial[first - 1] : NULL;
    result->above = last + 1 < search->count ? &trial[last + 1] : NULL;
    count_steps(result, search);
    bool open[PARTS] = {false};
    for (size_t i = 0; i < RULES; i++) {
        open[rules[i].part] |= rules[i].next(search) > 0;
    }
    result->open_min = open[LOWER_END];
    result->open_max = open[UPPER_END];
    result->open_inside = open[INSIDE];
}

bool omega_search(OmegaSearch *result, OmegaError *error, void *context,
                  const OmegaOptions *options)
{
    Trials search = {.options = options, .trial = result->trial, .up = 2, .down = 2};
    RefCell value;
    bool ok = true;
    ref_cell_init(&value, REF_DIGITS);
    while (ok && search.count < options->evaluations) {
        double omega = next_omega(&search);
        if (omega == 0) {
            break;
        }
        ok = error(context, &value, omega);
        if (ok) {
            trials_add(&search, omega, &value);
            search.last_met = trials_meet(&search, &value);
        }
    }
    conclude(result, &search);
    ref_cell_clear(&value);
    return ok;
}
