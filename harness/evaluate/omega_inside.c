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

/* The least ratio of two errors that counts: no gap between Omegas is worth nothing. */
#define LEAST_RATIO 1e-2

double omega_fresh(const Trials *trials, const OmegaAsk *ask, double omega)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", ask->digits, fmin(fmax(omega, ask->least), ask->most));
    double value = fmin(fmax(strtod(text, NULL), ask->least), ask->most);
    return trials_within(trials, value, value) ? 0 : value;
}

double omega_middle(double a, double b)
{
    return sqrt(a) * sqrt(b);
}

/* What the next Omega inside looks for: the widest gap, an error above the tolerance, or an error
 * below the best. */
typedef enum { FOR_WIDTH, FOR_FAILURE, FOR_BEST, PURPOSES } Purpose;

/* How much the gap between trials i and i + 1 is worth looking into.  It is the gap's width times
 * the square of a ratio: of the gap's larger error to the tolerance where a failure is looked for,
 * of the best error to the gap's smaller one where a better one is. */
static double worth(const Trials *trials, size_t i, Purpose purpose)
{
    double a = trials_share(trials, i), b = trials_share(trials, i + 1);
    double width = log(trials->trial[i + 1].omega) - log(trials->trial[i].omega);
    double ratio = purpose == FOR_FAILURE ? fmax(a, b)
                   : purpose == FOR_BEST  ? trials_share(trials, trials->best) / fmin(a, b)
                                          : 1;
    ratio = isfinite(ratio) ? fmax(ratio, LEAST_RATIO) : 1;
    return width * ratio * ratio;
}

double omega_inside(const Trials *trials, const OmegaAsk *ask, size_t first, size_t last,
                    size_t wanted)
{
    Purpose purpose = (Purpose)((last - first) % (ask->rises ? PURPOSES : FOR_BEST));
    double most = 0, chosen = 0;
    if (last - first + 1 >= wanted) {
        return 0;
    }
    for (size_t i = first; i < last; i++) {
        double omega = omega_fresh(
            trials, ask, omega_middle(trials->trial[i].omega, trials->trial[i + 1].omega));
        double value = worth(trials, i, purpose);
        if (omega > 0 && value > most) {
            most = value;
            chosen = omega;
        }
    }
    return chosen;
}

double omega_crossings(const Trials *trials, const OmegaAsk *ask, size_t first, size_t last)
{
    static const double distances[] = {0.75, -0.75, 0.25, -0.25, 1.5, -1.5};
    double min = trials->trial[first].omega, max = trials->trial[last].omega;
    double power = ldexp(1, ilogb(max) + 1), omega = 0;
    for (int c = 0; ask->rises && c < CROSSINGS && omega == 0; c++, power /= 2) {
        for (size_t i = 0; i < sizeof distances / sizeof *distances && omega == 0; i++) {
            double at = power + distances[i];
            if (at > min && at < max && !trials_within(trials, at - 0.1, at + 0.1)) {
                omega = omega_fresh(trials, ask, at);
            }
        }
    }
    return omega;
}

double omega_near_ends(const Trials *trials, const OmegaAsk *ask, size_t first, size_t last)
{
    double min = trials->trial[first].omega, max = trials->trial[last].omega, omega = 0;
    for (int k = NEAR_FIRST; k >= NEAR_LAST && omega == 0; k -= NEAR_STEP) {
        double far = ldexp(1, -k), near = ldexp(1, -k - NEAR_STEP);
        if (first > 0 && min * (1 + far) < max &&
            !trials_within(trials, min * (1 + near), min * (1 + far))) {
            omega = omega_fresh(trials, ask, min * (1 + far));
        }
        if (omega == 0 && last + 1 < trials->count && max * (1 - far) > min &&
            !trials_within(trials, max * (1 - far), max * (1 - near))) {
            omega = omega_fresh(trials, ask, max * (1 - far));
        }
    }
    return omega;
}
