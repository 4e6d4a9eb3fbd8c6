/*
 * The evaluated Omegas in order, and the inside of their interval: which one is evaluated next, so
 * that it is cut where rounding exceeds the tolerance, and the best found.
 */
#include "omega_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Powers of two that are looked at closely, from the one above the interval down. */
enum { CROSSINGS = 4 };

/* Distances from an end at which some Omega is evaluated: 2^-17, 2^-15, ... 2^-5 of it. */
enum { NEAR_FIRST = 17, NEAR_LAST = 5, NEAR_STEP = 2 };

/* Steps beside an end that are all evaluated, and the distances from a power of two. */
enum { NEAR_STEPS = 16, CROSSED_STEPS = 3 };

/* The worth of a gap between two errors that are equal: the steps there seem to be one. */
#define EQUAL_WORTH 0.1

/* Where a gap of steps is cut: a half would meet even ones alone. */
#define CUT 0.382

/* The least ratio of two errors that counts: no gap between Omegas is worth nothing. */
#define LEAST_RATIO 1e-2

void trials_add(Trials *trials, double omega, const RefCell *error)
{
    size_t i = trials->count++;
    Trial added = {.omega = omega};
    ref_cell_init(&added.error, error->digits);
    ref_cell_set(&added.error, error);
    for (; i > 0 && trials->trial[i - 1].omega > omega; i--) {
        trials->trial[i] = trials->trial[i - 1];
    }
    trials->trial[i] = added;
    size_t best = trials->count;
    for (size_t k = 0; k < trials->count; k++) {
        mpfr_srcptr value = trials->trial[k].error.value;
        if (mpfr_number_p(value) &&
            (best == trials->count || mpfr_less_p(value, trials->trial[best].error.value))) {
            best = k;
        }
    }
    trials->best = best;
}

bool trials_meet(const Trials *trials, const RefCell *error)
{
    return mpfr_number_p(error->value) && mpfr_cmp_d(error->value, trials->options->tolerance) <= 0;
}

bool trials_run(Trials *trials)
{
    const Trial *trial = trials->trial;
    size_t first = trials->best, last = first;
    bool meets = first < trials->count && trials_meet(trials, &trial[first].error);
    while (meets && first > 0 && trials_meet(trials, &trial[first - 1].error)) {
        first--;
    }
    while (meets && last + 1 < trials->count && trials_meet(trials, &trial[last + 1].error)) {
        last++;
    }
    trials->first = first;
    trials->last = last;
    return meets;
}

bool trials_within(const Trials *trials, double low, double high)
{
    for (size_t i = 0; i < trials->count; i++) {
        if (trials->trial[i].omega >= low && trials->trial[i].omega <= high) {
            return true;
        }
    }
    return false;
}

double omega_fresh(const Trials *trials, double omega)
{
    const OmegaOptions *options = trials->options;
    char text[40];
    double within = fmin(fmax(omega, options->least), options->most);
    snprintf(text, sizeof text, "%.*g", options->digits, within);
    double value = options->powers ? exp2(rint(log2(within))) : strtod(text, NULL);
    value = fmin(fmax(value, options->least), options->most);
    return trials_within(trials, value, value) ? 0 : value;
}

double omega_middle(const Trials *trials, size_t i)
{
    return omega_fresh(trials, sqrt(trials->trial[i].omega) * sqrt(trials->trial[i + 1].omega));
}

double omega_step(const OmegaOptions *options, double omega)
{
    int bits = options->format->digits, exponent;
    double most = ldexp(1, ilogb(options->format->largest)); /* twice that is infinite */
    double digits = frexp(fmin(omega * options->factor, most), &exponent);
    int unit = (int)fmax(exponent + 1, options->format->least_exponent) - bits;
    return rint(ldexp(digits, exponent + 1 - unit)) + ldexp(unit, bits - 1);
}

/* The Omega that is a step itself. */
static double omega_of_step(const OmegaOptions *options, double step)
{
    int bits = options->format->digits;
    double binade = ldexp(1, bits - 1);
    double unit = fmax(floor(step / binade) - 1, options->format->least_exponent - bits);
    return ldexp(step - unit * binade, (int)unit - 1) / options->factor;
}

/* The step of trial i. */
static double step_of(const Trials *trials, size_t i)
{
    return omega_step(trials->options, trials->trial[i].omega);
}

/* An Omega of a step that has none yet; 0: it has. */
static double fresh_step(const Trials *trials, double step)
{
    double omega = omega_fresh(trials, omega_of_step(trials->options, step));
    double found = omega > 0 ? omega_step(trials->options, omega) : 0;
    for (size_t i = 0; omega > 0 && i < trials->count; i++) {
        omega = step_of(trials, i) == found ? 0 : omega;
    }
    return omega;
}

/* Between trials i and i + 1: by ratio, or a step. */
static double between(const Trials *trials, size_t i)
{
    if (trials->options->format == NULL) {
        return omega_middle(trials, i);
    }
    double from = step_of(trials, i);
    return fresh_step(trials, ceil(from + CUT * (step_of(trials, i + 1) - from)));
}

double omega_toward_end(const Trials *trials, size_t i)
{
    const OmegaOptions *options = trials->options;
    double a = trials->trial[i].omega, b = trials->trial[i + 1].omega, omega = 0;
    double from = options->format != NULL ? step_of(trials, i) : 0;
    double steps = options->format != NULL ? step_of(trials, i + 1) - from : 0;
    if (steps > 1) {
        omega = between(trials, i);
    } else if (steps == 1) {
        double edge = (omega_of_step(options, from) + omega_of_step(options, from + 1)) / 2;
        for (int side = -1; side <= 1 && omega == 0; side += 2) {
            omega = omega_fresh(trials, edge * (1 + side * options->bracket / 4));
            omega = omega > a && omega < b ? omega : 0;
        }
    }
    return omega > 0 ? omega : omega_middle(trials, i);
}

/* The purpose of the next Omega inside: the widest gap, an error above the tolerance, or an error
 * below the best. */
typedef enum { FOR_WIDTH, FOR_FAILURE, FOR_BEST, PURPOSES } Purpose;

/* How close to the tolerance the error of trial i is: error / tolerance. */
static double share(const Trials *trials, size_t i)
{
    return mpfr_get_d(trials->trial[i].error.value, MPFR_RNDN) / trials->options->tolerance;
}

/* How much the gap between trials i and i + 1 is worth looking into.  It is the gap's width times
 * the square of a ratio: of the gap's larger error to the tolerance where a failure is looked for,
 * of the best error to the gap's smaller one where a better one is. */
static double worth(const Trials *trials, size_t i, Purpose purpose)
{
    double a = share(trials, i), b = share(trials, i + 1);
    double width = log(trials->trial[i + 1].omega) - log(trials->trial[i].omega);
    double ratio = purpose == FOR_FAILURE ? fmax(a, b)
                   : purpose == FOR_BEST  ? share(trials, trials->best) / fmin(a, b)
                                          : 1;
    ratio = isfinite(ratio) ? fmax(ratio, LEAST_RATIO) : 1;
    width *= trials->options->format != NULL && a == b ? EQUAL_WORTH : 1;
    return width * ratio * ratio;
}

static double inside(const Trials *trials, size_t wanted)
{
    size_t gaps = trials->last - trials->first;
    Purpose purpose = (Purpose)(gaps % (trials->options->rises ? PURPOSES : FOR_BEST));
    double most = 0, chosen = 0;
    for (size_t i = trials->first; gaps + 1 < wanted && i < trials->last; i++) {
        double omega = between(trials, i);
        double value = worth(trials, i, purpose);
        if (omega > 0 && value > most) {
            most = value;
            chosen = omega;
        }
    }
    return chosen;
}

double omega_all_inside(Trials *trials)
{
    return inside(trials, trials->options->inside);
}

double omega_half_inside(Trials *trials)
{
    return inside(trials, trials->options->inside / 2);
}

/* Around the powers of two, on neighbouring steps: where ties go to even digits, every other step
 * has another error. */
static double crossed_step(const Trials *trials, double min, double max)
{
    static const double distances[] = {0.125, -0.125, 0.25, -0.25, 0.5, -0.5, 1, -1};
    const OmegaOptions *options = trials->options;
    double power = ldexp(1, ilogb(max * options->factor + 1)) / options->factor, omega = 0;
    for (int c = 0; c < CROSSED_STEPS && omega == 0; c++, power /= 2) {
        for (size_t i = 0; i < 2 * sizeof distances / sizeof *distances && omega == 0; i++) {
            double at = power + distances[i / 2] / options->factor;
            double step = at > min && at < max ? omega_step(options, at) + (double)(i % 2) : 0;
            omega = at > min && at < max ? fresh_step(trials, step) : 0;
            omega = omega > min && omega < max ? omega : 0;
        }
    }
    return omega;
}

double omega_crossings(Trials *trials)
{
    static const double distances[] = {0.75, -0.75, 0.25, -0.25, 1.5, -1.5};
    double min = trials->trial[trials->first].omega, max = trials->trial[trials->last].omega;
    double power = ldexp(1, ilogb(max) + 1), omega = 0;
    if (trials->options->format != NULL) {
        return crossed_step(trials, min, max);
    }
    for (int c = 0; trials->options->rises && c < CROSSINGS && omega == 0; c++, power /= 2) {
        for (size_t i = 0; i < sizeof distances / sizeof *distances && omega == 0; i++) {
            double at = power + distances[i];
            if (at > min && at < max && !trials_within(trials, at - 0.1, at + 0.1)) {
                omega = omega_fresh(trials, at);
            }
        }
    }
    return omega;
}

static double near_step(const Trials *trials, bool below, bool above)
{
    double min = step_of(trials, trials->first), max = step_of(trials, trials->last), omega = 0;
    for (int k = 1; k <= NEAR_STEPS && min + k < max && omega == 0; k++) {
        omega = below ? fresh_step(trials, min + k) : 0;
        if (omega == 0 && above) {
            omega = fresh_step(trials, max - k);
        }
    }
    return omega;
}

double omega_near_ends(Trials *trials)
{
    double min = trials->trial[trials->first].omega, max = trials->trial[trials->last].omega;
    bool below = trials->first > 0, above = trials->last + 1 < trials->count;
    double omega = 0;
    if (trials->options->format != NULL) {
        return near_step(trials, below, above);
    }
    for (int k = NEAR_FIRST; k >= NEAR_LAST && omega == 0; k -= NEAR_STEP) {
        double far = ldexp(1, -k), near = ldexp(1, -k - NEAR_STEP);
        if (below && min * (1 + far) < max &&
            !trials_within(trials, min * (1 + near), min * (1 + far))) {
            omega = omega_fresh(trials, min * (1 + far));
        }
        if (omega == 0 && above && max * (1 - far) > min &&
            !trials_within(trials, max * (1 - far), max * (1 - near))) {
            omega = omega_fresh(trials, max * (1 - far));
        }
    }
    return omega;
}
