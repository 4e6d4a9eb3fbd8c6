#include "omega_search.h"

#include "../cases/fault.h"

#include <math.h>

/* Ends are bracketed to this, relative. */
#define BRACKET 1e-6

/* The scan: steps of sqrt(2) from a quarter of the guess; over when the error has been above the
 * tolerance and far above its best for SCAN_PATIENCE steps. */
enum { SCAN_PATIENCE = 8, REFINE_STEPS = 8, SCAN_MOST = 160 };

/* How often an end is looked for by the master curve before it is by halves alone. */
enum { STEEP_TRIES = 8 };
#define SCAN_LOWEST 0x1p-20
#define SCAN_HIGHEST 0x1p60

typedef struct {
    OmegaSearch *result;
    OmegaError *error;
    void *context;
    double tolerance;
    Trial scanned[SCAN_MOST]; /* in the order of Omega */
    size_t scanned_count;
} Search;

static void trial_init(Trial *trial)
{
    trial->omega = 0;
    mpfr_init2(trial->error, 192);
}

static void trial_set(Trial *to, const Trial *from)
{
    to->omega = from->omega;
    mpfr_set(to->error, from->error, MPFR_RNDN);
}

void omega_search_init(OmegaSearch *search)
{
    *search = (OmegaSearch){0};
    trial_init(&search->below);
    trial_init(&search->min);
    trial_init(&search->max);
    trial_init(&search->best);
}

void omega_search_clear(OmegaSearch *search)
{
    mpfr_clears(search->below.error, search->min.error, search->max.error, search->best.error,
                (mpfr_ptr)0);
}

static bool feasible(const Search *search, const Trial *trial)
{
    return FAULT("nan-feasible", true, mpfr_number_p(trial->error)) &&
           mpfr_cmp_d(trial->error, search->tolerance) <= 0;
}

/* Evaluates trial->omega and remembers the best. */
static bool evaluate(Search *search, Trial *trial)
{
    Trial *best = &search->result->best;
    if (!search->error(search->context, trial->error, trial->omega)) {
        return false;
    }
    if (mpfr_number_p(trial->error) &&
        (best->omega == 0 || FAULT("worst-for-best", mpfr_greater_p(trial->error, best->error),
                                   mpfr_less_p(trial->error, best->error)))) {
        trial_set(best, trial);
    }
    return true;
}

/* Where the master curve through a trial, ln err = ln C - 2 Omega, meets the tolerance. */
static double meets_tolerance(const Search *search, const Trial *trial)
{
    long exponent;
    double mantissa = mpfr_get_d_2exp(&exponent, trial->error, MPFR_RNDN);
    double log_error = log(mantissa) + (double)exponent * log(2);
    return trial->omega + (log_error - log(search->tolerance)) / 2;
}

/* Where to try between good and bad.  steep: below good the error falls as the master curve does;
 * a quarter of the bracket beyond its guess, now on one side and then on the other, closes in. */
static double between(const Search *search, const Trial *good, const Trial *bad, bool steep,
                      bool upward)
{
    double half = good->omega / 2 + bad->omega / 2;
    if (steep && mpfr_regular_p(bad->error)) {
        double guess = meets_tolerance(search, bad) * (1 + (upward ? BRACKET : -BRACKET) / 4);
        return guess > bad->omega && guess < good->omega ? guess : half;
    }
    return half;
}

/* Narrows good (feasible) and bad (not) until they agree to BRACKET. */
static bool narrow(Search *search, Trial *good, Trial *bad, bool steep)
{
    Trial middle;
    bool ok = true, upward = true;
    trial_init(&middle);
    for (int tries = 0; ok && fabs(good->omega - bad->omega) > BRACKET * good->omega; tries++) {
        middle.omega = between(search, good, bad, steep && tries < STEEP_TRIES, upward);
        ok = evaluate(search, &middle);
        upward = !feasible(search, &middle);
        trial_set(upward ? bad : good, &middle);
    }
    mpfr_clear(middle.error);
    return ok;
}

/* The same among what the scan has evaluated. */
static void follow_scan(const Search *search, Trial *good, Trial *bad, bool upward, bool *found)
{
    for (size_t i = 0; i < search->scanned_count && !*found; i++) {
        const Trial *trial = &search->scanned[upward ? i : search->scanned_count - 1 - i];
        if (upward ? trial->omega <= good->omega : trial->omega >= good->omega) {
            continue;
        }
        *found = !feasible(search, trial);
        trial_set(*found ? bad : good, trial);
    }
}

/* From a feasible good down to the first infeasible bad, by steps of a factor.  *found: there
 * was one. */
static bool walk(Search *search, Trial *good, Trial *bad, double factor, bool *found)
{
    *found = false;
    follow_scan(search, good, bad, factor > 1, found);
    while (!*found && good->omega > SCAN_LOWEST && good->omega < SCAN_HIGHEST) {
        bad->omega = good->omega * factor;
        if (!evaluate(search, bad)) {
            return false;
        }
        if (!feasible(search, bad)) {
            *found = true;
            return true;
        }
        trial_set(good, bad);
    }
    return true;
}

/* Geometric scan for the best; leaves it in result->best. */
static bool scan(Search *search, double guess)
{
    const Trial *best = &search->result->best;
    Trial trial;
    mpfr_t limit;
    int above = 0;
    bool ok = true;
    trial_init(&trial);
    mpfr_init2(limit, 192);
    trial.omega = guess / 4;
    while (ok && above < SCAN_PATIENCE && trial.omega < SCAN_HIGHEST) {
        ok = evaluate(search, &trial);
        mpfr_mul_ui(limit, best->error, 4, MPFR_RNDN);
        bool rising = trial.omega > best->omega && !feasible(search, &trial) &&
                      !mpfr_lessequal_p(trial.error, limit);
        above = rising ? above + 1 : 0;
        if (ok && search->scanned_count < SCAN_MOST) {
            Trial *scanned = &search->scanned[search->scanned_count++];
            trial_init(scanned);
            trial_set(scanned, &trial);
        }
        trial.omega *= sqrt(2);
    }
    double low = best->omega / sqrt(2);
    for (int i = 1; ok && best->omega > 0 && i < 2 * REFINE_STEPS; i++) {
        trial.omega = low * pow(2, (double)i / (2 * REFINE_STEPS));
        ok = evaluate(search, &trial);
    }
    mpfr_clear(limit);
    mpfr_clear(trial.error);
    return ok;
}

/* Newton's steps on the master curve, ln err = ln C - 2 Omega: in place for a falling error. */
static bool follow_master_curve(Search *search, Trial *trial)
{
    for (int i = 0; i < 6; i++) {
        if (!evaluate(search, trial) || !mpfr_number_p(trial->error)) {
            return false;
        }
        if (mpfr_zero_p(trial->error)) {
            return true;
        }
        double next = meets_tolerance(search, trial);
        if (!(next > SCAN_LOWEST)) {
            next = trial->omega / 2;
        }
        if (fabs(next - trial->omega) < BRACKET / 8 * trial->omega) {
            break;
        }
        trial->omega = next;
    }
    return true;
}

/* Both ends of the feasible run around start. */
static bool bracket(Search *search, const Trial *start, double step, bool rises)
{
    OmegaSearch *result = search->result;
    bool ok;
    result->found = true;
    trial_set(&result->min, start);
    trial_set(&result->max, start);
    ok = walk(search, &result->min, &result->below, 1 / step, &result->has_below);
    if (ok && result->has_below) {
        ok = narrow(search, &result->min, &result->below, true);
    }
    if (ok && rises) {
        Trial above;
        trial_init(&above);
        ok = walk(search, &result->max, &above, sqrt(2), &result->has_max);
        if (ok && result->has_max) {
            ok = narrow(search, &result->max, &above, false);
        }
        mpfr_clear(above.error);
    }
    return ok;
}

/* A falling error: the first feasible Omega at or above where the master curve meets the
 * tolerance, and from there down. */
static bool search_falling(Search *search, double guess)
{
    Trial trial;
    double step = 1 + BRACKET / 4;
    trial_init(&trial);
    trial.omega = guess;
    bool ok = follow_master_curve(search, &trial);
    while (ok && !feasible(search, &trial) && trial.omega < SCAN_HIGHEST) {
        trial.omega *= step;
        step *= step;
        ok = evaluate(search, &trial);
    }
    if (ok && feasible(search, &trial)) {
        ok = bracket(search, &trial, step, false);
    }
    mpfr_clear(trial.error);
    return ok;
}

/* The whole range, for an error that may rise again. */
static bool search_range(Search *search, double guess)
{
    OmegaSearch *result = search->result;
    bool ok = scan(search, guess);
    if (ok && result->best.omega > 0 && feasible(search, &result->best)) {
        Trial start;
        trial_init(&start);
        trial_set(&start, &result->best);
        ok = bracket(search, &start, sqrt(2), true);
        mpfr_clear(start.error);
    }
    return ok;
}

bool omega_search(OmegaSearch *result, OmegaError *error, void *context, double tolerance,
                  double guess, bool rises)
{
    Search search = {.result = result, .error = error, .context = context, .tolerance = tolerance};
    bool ok = rises ? search_range(&search, guess) : search_falling(&search, guess);
    for (size_t i = 0; i < search.scanned_count; i++) {
        mpfr_clear(search.scanned[i].error);
    }
    return ok;
}
