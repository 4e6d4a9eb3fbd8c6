/*
 * The list of evaluated Omegas: kept in order, and read for the best and for the run around it.
 */
#include "omega_inside.h"

void trial_set(Trial *to, const Trial *from)
{
    to->omega = from->omega;
    ref_cell_set(&to->error, &from->error);
}

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
