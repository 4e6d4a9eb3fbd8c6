/*
 * The list of evaluated Omegas: kept in order, and read for the best and for the run around it.
 */
#include "omega_search.h"

enum { ERROR_BITS = 192 };

void trial_init(Trial *trial)
{
    trial->omega = 0;
    mpfr_init2(trial->error, ERROR_BITS);
}

void trial_set(Trial *to, const Trial *from)
{
    to->omega = from->omega;
    mpfr_set(to->error, from->error, MPFR_RNDN);
}

void trial_clear(Trial *trial)
{
    mpfr_clear(trial->error);
}

void trials_init(Trials *trials, double tolerance)
{
    trials->count = trials->best = 0;
    trials->tolerance = tolerance;
}

void trials_clear(Trials *trials)
{
    for (size_t i = 0; i < trials->count; i++) {
        trial_clear(&trials->trial[i]);
    }
    trials->count = trials->best = 0;
}

static size_t best_of(const Trials *trials)
{
    size_t best = trials->count;
    for (size_t i = 0; i < trials->count; i++) {
        const Trial *one = &trials->trial[i];
        if (mpfr_number_p(one->error) &&
            (best == trials->count || mpfr_less_p(one->error, trials->trial[best].error))) {
            best = i;
        }
    }
    return best;
}

void trials_add(Trials *trials, double omega, mpfr_srcptr error)
{
    size_t i = trials->count++;
    trial_init(&trials->trial[i]);
    for (; i > 0 && trials->trial[i - 1].omega > omega; i--) {
        trials->trial[i].omega = trials->trial[i - 1].omega;
        mpfr_swap(trials->trial[i].error, trials->trial[i - 1].error);
    }
    trials->trial[i].omega = omega;
    mpfr_set(trials->trial[i].error, error, MPFR_RNDN);
    trials->best = best_of(trials);
}

bool trials_meet(const Trials *trials, size_t i)
{
    mpfr_srcptr error = trials->trial[i].error;
    return mpfr_number_p(error) && mpfr_cmp_d(error, trials->tolerance) <= 0;
}

bool trials_run(const Trials *trials, size_t *first, size_t *last)
{
    *first = *last = trials->best;
    if (trials->best == trials->count || !trials_meet(trials, trials->best)) {
        return false;
    }
    while (*first > 0 && trials_meet(trials, *first - 1)) {
        --*first;
    }
    while (*last + 1 < trials->count && trials_meet(trials, *last + 1)) {
        ++*last;
    }
    return true;
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

double trials_share(const Trials *trials, size_t i)
{
    return mpfr_get_d(trials->trial[i].error, MPFR_RNDN) / trials->tolerance;
}
