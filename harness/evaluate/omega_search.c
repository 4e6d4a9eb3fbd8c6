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

typedef struct {
    const OmegaOptions *options;
    Trials trials;
    size_t first, last; /* the trials around the best that all meet the tolerance, if it does */
    double up, down;    /* the next factors beyond what has been tried: each is the last, squared */
    int tries;          /* of the curve or around the best, while nothing meets the tolerance */
    int steep;          /* of the curve at the lower end */
    bool last_met;      /* the last Omega evaluated met the tolerance */
} Search;

void omega_search_init(OmegaSearch *search)
{
    *search = (OmegaSearch){0};
    trial_init(&search->below);
    trial_init(&search->min);
    trial_init(&search->max);
    trial_init(&search->above);
    trial_init(&search->best);
}

void omega_search_clear(OmegaSearch *search)
{
    trial_clear(&search->below);
    trial_clear(&search->min);
    trial_clear(&search->max);
    trial_clear(&search->above);
    trial_clear(&search->best);
}

static double fresh(const Search *search, double omega)
{
    return omega_fresh(&search->trials, search->options, omega);
}

static double lowest(const Search *search)
{
    return search->trials.trial[0].omega;
}

static double highest(const Search *search)
{
    return search->trials.trial[search->trials.count - 1].omega;
}

/* Where the master curve through a trial, ln err = ln C - 2 Omega, meets the tolerance. */
static double meets_tolerance(const Search *search, const Trial *trial)
{
    long exponent;
    double mantissa = mpfr_get_d_2exp(&exponent, trial->error, MPFR_RNDN);
    double log_error = log(mantissa) + (double)exponent * log(2);
    return trial->omega + (log_error - log(search->options->tolerance)) / 2;
}

/* Have the last errors of the scan been too large, and above 4 times the best? */
static bool has_risen(const Trials *trials)
{
    mpfr_t limit;
    size_t above = 0;
    if (trials->best == trials->count) {
        return trials->count >= SCAN_PATIENCE;
    }
    mpfr_init2(limit, 64);
    mpfr_mul_ui(limit, trials->trial[trials->best].error, 4, MPFR_RNDN);
    for (size_t i = trials->best + 1; i < trials->count; i++) {
        bool low = trials_meet(trials, i) || mpfr_lessequal_p(trials->trial[i].error, limit);
        above = low ? 0 : above + 1;
    }
    mpfr_clear(limit);
    return above >= SCAN_PATIENCE;
}

/* The next Omega of the scan, upward; 0: it is over. */
static double scan(const Search *search)
{
    double guess = search->options->guess, step = search->options->powers ? 2 : sqrt(2);
    if (search->trials.count == 0) {
        return fresh(search, guess / step);
    }
    double top = highest(search);
    if (has_risen(&search->trials)) {
        return 0;
    }
    return fresh(search, top < SCAN_FINE * guess ? top * step
                         : top < SCAN_FAR        ? top * SCAN_STEP
                                                 : pow(top, 1.5));
}

/* The first Omega of a falling error that meets the tolerance: along the master curve, then by
 * ever longer steps; 0: it has been found, or there is no way. */
static double fall(Search *search)
{
    const Trials *trials = &search->trials;
    if (trials->count == 0) {
        return fresh(search, search->options->guess);
    }
    const Trial *top = &trials->trial[trials->count - 1];
    if (trials->best == trials->count || trials_meet(trials, trials->best)) {
        return 0;
    }
    if (mpfr_regular_p(top->error) && search->tries++ < CURVE_TRIES) {
        double next = meets_tolerance(search, top) * (1 + search->options->bracket / 4);
        if (next > top->omega) {
            return fresh(search, next);
        }
    }
    double next = top->omega * search->up;
    search->up *= search->up;
    return fresh(search, next);
}

/* Around the best, while nothing meets the tolerance: the wider gap beside it. */
static double refine(Search *search)
{
    const Trials *trials = &search->trials;
    size_t best = trials->best;
    if (!search->options->rises || best == trials->count || search->tries++ >= REFINE_TRIES) {
        return 0;
    }
    if (best == 0 && lowest(search) > search->options->least) {
        double next = lowest(search) / search->down;
        search->down *= search->down;
        return fresh(search, next);
    }
    double omega = trials->trial[best].omega;
    double below = best > 0 ? trials->trial[best - 1].omega : omega;
    double above = best + 1 < trials->count ? trials->trial[best + 1].omega : omega;
    return fresh(search, omega_middle(omega, omega / below > above / omega ? below : above));
}

/* Below the lowest where it meets the tolerance; 0: it does not, or there is nothing below. */
static double below_all(Search *search)
{
    if (search->first > 0 || lowest(search) <= search->options->least) {
        return 0;
    }
    double next = lowest(search) / search->down;
    search->down *= search->down;
    return fresh(search, next);
}

static double above_all(Search *search)
{
    if (search->last + 1 < search->trials.count || highest(search) >= search->options->most) {
        return 0;
    }
    double next = highest(search) * search->up;
    search->up *= search->up;
    return fresh(search, next);
}

/* Do the two sides of an end differ by more than its bracket? */
static bool is_wide(const Search *search, size_t good, size_t bad)
{
    double at = search->trials.trial[good].omega;
    return fabs(search->trials.trial[bad].omega - at) > search->options->bracket * at;
}

/* The next Omega between the first that meets the tolerance and its neighbour below.  Where the
 * error falls as the master curve does, it is the curve's guess, moved by a quarter of the bracket
 * to one side and then to the other, so that the two close in on the end. */
static double narrow_min(Search *search)
{
    if (search->first == 0 || !is_wide(search, search->first, search->first - 1)) {
        return 0;
    }
    const Trial *good = &search->trials.trial[search->first], *bad = good - 1;
    if (search->options->curve && search->options->format == NULL && mpfr_regular_p(bad->error) &&
        search->steep++ < STEEP_TRIES) {
        double side = search->options->bracket / 4 * (search->last_met ? -1 : 1);
        double guess = fresh(search, meets_tolerance(search, bad) * (1 + side));
        if (guess > bad->omega && guess < good->omega) {
            return guess;
        }
    }
    return omega_toward_end(&search->trials, search->options, search->first - 1);
}

static double narrow_max(Search *search)
{
    if (search->last + 1 == search->trials.count ||
        !is_wide(search, search->last, search->last + 1)) {
        return 0;
    }
    return omega_toward_end(&search->trials, search->options, search->last);
}

static double half_inside(Search *search)
{
    return omega_inside(&search->trials, search->options, search->first, search->last,
                        search->options->inside / 2);
}

static double all_inside(Search *search)
{
    return omega_inside(&search->trials, search->options, search->first, search->last,
                        search->options->inside);
}

static double crossings(Search *search)
{
    return omega_crossings(&search->trials, search->options, search->first, search->last);
}

static double near_ends(Search *search)
{
    return omega_near_ends(&search->trials, search->options, search->first, search->last);
}

/* The parts of an interval that stay open where the evaluations are used up. */
typedef enum { LOWER_END, UPPER_END, INSIDE, PARTS } Part;

/* The rules for the next Omega once some meet the tolerance, in order: the first that names one
 * decides; 0: a rule names none.  A rule holds for errors that change with every Omega (curved),
 * for step functions (stepped), or for both. */
static const struct {
    double (*next)(Search *search);
    Part part;
    bool curved, stepped;
} rules[] = {
    {below_all, LOWER_END, true, true},  {above_all, UPPER_END, true, true},
    {half_inside, INSIDE, true, false},  {crossings, INSIDE, true, false},
    {narrow_min, LOWER_END, true, true}, {narrow_max, UPPER_END, true, true},
    {near_ends, INSIDE, false, true},    {crossings, INSIDE, false, true},
    {all_inside, INSIDE, true, true},    {near_ends, INSIDE, true, false},
};
enum { RULES = sizeof rules / sizeof *rules };

/* 0: the search is over. */
static double next_omega(Search *search)
{
    bool stepped = search->options->format != NULL;
    double omega = search->options->rises ? scan(search) : fall(search);
    if (omega > 0) {
        return omega;
    }
    if (!trials_run(&search->trials, &search->first, &search->last)) {
        return refine(search);
    }
    for (size_t i = 0; i < RULES && omega == 0; i++) {
        if (stepped ? rules[i].stepped : rules[i].curved) {
            omega = rules[i].next(search);
        }
    }
    return omega;
}

static void count_steps(OmegaSearch *result, const Trials *trials, const OmegaOptions *options,
                        size_t first, size_t last)
{
    result->format = options->format;
    if (options->format == NULL) {
        return;
    }
    double begin = omega_step(options, trials->trial[first].omega), step = begin;
    result->stepped = 1;
    for (size_t i = first + 1; i <= last; i++) {
        double next = omega_step(options, trials->trial[i].omega);
        result->stepped += next != step;
        step = next;
    }
    result->steps = step - begin + 1;
}

/* Fills in the result from the evaluated Omegas. */
static void conclude(OmegaSearch *result, Search *search)
{
    const Trials *trials = &search->trials;
    result->evaluations = trials->count;
    result->powers = search->options->powers;
    if (trials->count > 0) {
        result->lowest = lowest(search);
        result->highest = highest(search);
    }
    if (trials->best < trials->count) {
        trial_set(&result->best, &trials->trial[trials->best]);
    }
    result->found = trials_run(trials, &search->first, &search->last);
    if (!result->found) {
        return;
    }
    const size_t first = search->first, last = search->last;
    result->inside = last - first + 1;
    result->has_below = first > 0;
    result->has_above = last + 1 < trials->count;
    trial_set(&result->min, &trials->trial[first]);
    trial_set(&result->max, &trials->trial[last]);
    if (result->has_below) {
        trial_set(&result->below, &trials->trial[first - 1]);
    }
    if (result->has_above) {
        trial_set(&result->above, &trials->trial[last + 1]);
    }
    count_steps(result, trials, search->options, first, last);
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
    Search search = {.options = options, .up = 2, .down = 2};
    mpfr_t value;
    bool ok = true;
    mpfr_init2(value, 192);
    trials_init(&search.trials, options->tolerance);
    while (ok && search.trials.count < options->evaluations) {
        double omega = next_omega(&search);
        if (omega == 0) {
            break;
        }
        ok = error(context, value, omega);
        if (ok) {
            trials_add(&search.trials, omega, value);
            search.last_met = mpfr_number_p(value) && mpfr_cmp_d(value, options->tolerance) <= 0;
        }
    }
    conclude(result, &search);
    trials_clear(&search.trials);
    mpfr_clear(value);
    return ok;
}
