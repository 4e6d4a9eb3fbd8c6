/*
 * The inside of an interval of Omegas: which one is evaluated next, so that the interval is cut
 * where rounding exceeds the tolerance, and the best found.
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

double omega_fresh(const Trials *trials, const OmegaOptions *options, double omega)
{
    char text[40];
    double within = fmin(fmax(omega, options->least), options->most);
    snprintf(text, sizeof text, "%.*g", options->digits, within);
    double value = options->powers ? exp2(rint(log2(within))) : strtod(text, NULL);
    value = fmin(fmax(value, options->least), options->most);
    return trials_within(trials, value, value) ? 0 : value;
}

double omega_middle(double a, double b)
{
    return sqrt(a) * sqrt(b);
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

/* An Omega of a step that has none yet; 0: it has. */
static double fresh_step(const Trials *trials, const OmegaOptions *options, double step)
{
    double omega = omega_fresh(trials, options, omega_of_step(options, step));
    double found = omega > 0 ? omega_step(options, omega) : 0;
    for (size_t i = 0; omega > 0 && i < trials->count; i++) {
        omega = omega_step(options, trials->trial[i].omega) == found ? 0 : omega;
    }
    return omega;
}

/* Between trials i and i + 1: by ratio, or a step. */
static double between(const Trials *trials, const OmegaOptions *options, size_t i)
{
    double a = trials->trial[i].omega, b = trials->trial[i + 1].omega;
    if (options->format == NULL) {
        return omega_fresh(trials, options, omega_middle(a, b));
    }
    double from = omega_step(options, a);
    return fresh_step(trials, options, ceil(from + CUT * (omega_step(options, b) - from)));
}

double omega_toward_end(const Trials *trials, const OmegaOptions *options, size_t i)
{
    double a = trials->trial[i].omega, b = trials->trial[i + 1].omega, omega = 0;
    double from = options->format != NULL ? omega_step(options, a) : 0;
    double steps = options->format != NULL ? omega_step(options, b) - from : 0;
    if (steps > 1) {
        omega = between(trials, options, i);
    } else if (steps == 1) {
        double edge = (omega_of_step(options, from) + omega_of_step(options, from + 1)) / 2;
        for (int side = -1; side <= 1 && omega == 0; side += 2) {
            omega = omega_fresh(trials, options, edge * (1 + side * options->bracket / 4));
            omega = omega > a && omega < b ? omega : 0;
        }
    }
    return omega > 0 ? omega : omega_fresh(trials, options, omega_middle(a, b));
}

/* The purpose of the next Omega inside: the widest gap, an error above the tolerance, or an error
 * below the best. */
typedef enum { FOR_WIDTH, FOR_FAILURE, FOR_BEST, PURPOSES } Purpose;

/* How much the gap between trials i and i + 1 is worth looking into.  It is the gap's width times
 * the square of a ratio: of the gap's larger error to the tolerance where a failure is looked for,
 * of the best error to the gap's smaller one where a better one is. */
static double worth(const Trials *trials, const OmegaOptions *options, size_t i, Purpose purpose)
{
    double a = trials_share(trials, i), b = trials_share(trials, i + 1);
    double width = log(trials->trial[i + 1].omega) - log(trials->trial[i].omega);
    double ratio = purpose == FOR_FAILURE ? fmax(a, b)
                   : purpose == FOR_BEST  ? trials_share(trials, trials->best) / fmin(a, b)
                                          : 1;
    ratio = isfinite(ratio) ? fmax(ratio, LEAST_RATIO) : 1;
    width *= options->format != NULL && a == b ? EQUAL_WORTH : 1;
    return width * ratio * ratio;
}

double omega_inside(const Trials *trials, const OmegaOptions *options, size_t first, size_t last,
                    size_t wanted)
{
    Purpose purpose = (Purpose)((last - first) % (options->rises ? PURPOSES : FOR_BEST));
    double most = 0, chosen = 0;
    if (last - first + 1 >= wanted) {
        return 0;
    }
    for (size_t i = first; i < last; i++) {
        double omega = between(trials, options, i);
        double value = worth(trials, options, i, purpose);
        if (omega > 0 && value > most) {
            most = value;
            chosen = omega;
        }
    }
    return chosen;
}

/* Around the powers of two, on neighbouring steps: where ties go to even digits, every other step
 * has another error. */
static double crossed_step(const Trials *trials, const OmegaOptions *options, double min,
                           double max)
{
    static const double distances[] = {0.125, -0.125, 0.25, -0.25, 0.5, -0.5, 1, -1};
    double power = ldexp(1, ilogb(max * options->factor + 1)) / options->factor, omega = 0;
    for (int c = 0; c < CROSSED_STEPS && omega == 0; c++, power /= 2) {
        for (size_t i = 0; i < 2 * sizeof distances / sizeof *distances && omega == 0; i++) {
            double at = power + distances[i / 2] / options->factor;
            double step = at > min && at < max ? omega_step(options, at) + (double)(i % 2) : 0;
            omega = at > min && at < max ? fresh_step(trials, options, step) : 0;
            omega = omega > min && omega < max ? omega : 0;
        }
    }
    return omega;
}

double omega_crossings(const Trials *trials, const OmegaOptions *options, size_t first, size_t last)
{
    static const double distances[] = {0.75, -0.75, 0.25, -0.25, 1.5, -1.5};
    double min = trials->trial[first].omega, max = trials->trial[last].omega;
    double power = ldexp(1, ilogb(max) + 1), omega = 0;
    if (options->format != NULL) {
        return crossed_step(trials, options, min, max);
    }
    for (int c = 0; options->rises && c < CROSSINGS && omega == 0; c++, power /= 2) {
        for (size_t i = 0; i < sizeof distances / sizeof *distances && omega == 0; i++) {
            double at = power + distances[i];
            if (at > min && at < max && !trials_within(trials, at - 0.1, at + 0.1)) {
                omega = omega_fresh(trials, options, at);
            }
        }
    }
    return omega;
}

static double near_step(const Trials *trials, const OmegaOptions *options, size_t first,
                        size_t last)
{
    double min = omega_step(options, trials->trial[first].omega), omega = 0;
    double max = omega_step(options, trials->trial[last].omega);
    for (int k = 1; k <= NEAR_STEPS && min + k < max && omega == 0; k++) {
        omega = first > 0 ? fresh_step(trials, options, min + k) : 0;
        if (omega == 0 && last + 1 < trials->count) {
            omega = fresh_step(trials, options, max - k);
        }
    }
    return omega;
}

double omega_near_ends(const Trials *trials, const OmegaOptions *options, size_t first, size_t last)
{
    double min = trials->trial[first].omega, max = trials->trial[last].omega, omega = 0;
    if (options->format != NULL) {
        return near_step(trials, options, first, last);
    }
    for (int k = NEAR_FIRST; k >= NEAR_LAST && omega == 0; k -= NEAR_STEP) {
        double far = ldexp(1, -k), near = ldexp(1, -k - NEAR_STEP);
        if (first > 0 && min * (1 + far) < max &&
            !trials_within(trials, min * (1 + near), min * (1 + far))) {
            omega = omega_fresh(trials, options, min * (1 + far));
        }
        if (omega == 0 && last + 1 < trials->count && max * (1 - far) > min &&
            !trials_within(trials, max * (1 - far), max * (1 - near))) {
            omega = omega_fresh(trials, options, max * (1 - far));
        }
    }
    return omega;
}
