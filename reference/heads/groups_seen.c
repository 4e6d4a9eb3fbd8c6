/*
 * What a plan looks at in rows of gates: how far Omega takes the second of the groups' coefficients
 * below the best, and gates whose sign is in doubt.
 */
#include "heads.h"

#include "../evaluator/doubt.h"
#include "../evaluator/shift.h"

/* The content of gated keys, and exp(-|that|). */
typedef struct {
    mpfr_srcptr score, decayed;
} Gate;

/* y = e^(content - shift) of group g's keys, shift = max(gate, 0): 1, or its size below that. */
static void content_exponential(const RowGroups *groups, int g, const Gate *gate, mpfr_ptr y)
{
    bool positive = mpfr_sgn(gate->score) > 0;
    if (groups->gated[g] == positive) {
        mpfr_set_ui(y, 1, MPFR_RNDN);
    } else {
        limbs_set(y, gate->decayed);
    }
}

/* z = the sum of the exponentials of coefficient k's contents: less max(gate, 0) where the gate is
 * near, else less their own largest.  Is that the gate? */
static bool content_sum(const RowGroups *groups, int k, const Gate *gate, mpfr_ptr z, mpfr_ptr t)
{
    bool far = !shift_is_near(gate->score), has[2] = {false, false};
    for (int g = 0; g < GROUPS; g++) {
        has[groups->gated[g]] |= groups->count[g] > 0 && groups->coefficient[g] == k;
    }
    bool top = has[true] && (mpfr_sgn(gate->score) > 0 || !has[false]);
    mpfr_set_zero(z, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (groups->coefficient[g] != k || (far && groups->gated[g] != top)) {
            continue;
        }
        mpfr_set_ui(t, 1, MPFR_RNDN);
        if (!far) {
            content_exponential(groups, g, gate, t);
        }
        mpfr_mul_ui(t, t, groups->count[g], MPFR_RNDN);
        limbs_add(z, z, t);
    }
    return far && top;
}

/* For the plan: the content sums of the groups, by best and second coefficient. */
static void note_gap(Worker *worker, const RowGroups *groups, const Gate *gate)
{
    int best = groups->best, second = best - OMEGA_MAX_GAP;
    for (int g = 0; g < GROUPS; g++) {
        int k = groups->coefficient[g];
        if (groups->count[g] > 0 && k != best && k > second) {
            second = k;
        }
    }
    mpfr_ptr z_best = ap_at(&worker->temp, 0, 5), z_rest = ap_at(&worker->temp, 0, 6),
             t = ap_at(&worker->temp, 0, 0);
    bool gated_best = content_sum(groups, best, gate, z_best, t);
    bool gated_rest = content_sum(groups, second, gate, z_rest, t);
    if (mpfr_zero_p(z_rest)) {
        return;
    }
    mpfr_mul_si(t, gate->score, (long)gated_best - (long)gated_rest, MPFR_RNDN);
    worker_note_gap(worker, best - second, shift_bits_between(z_best, z_rest, t));
}

/* The gate against 0, where A has keys of both. */
static void note_doubt(const Evaluator *ev, Worker *worker, const RowGroups *groups,
                       const Gate *gate)
{
    bool has[2] = {false, false};
    for (int g = 0; g < GROUPS; g++) {
        has[groups->gated[g]] |= groups->count[g] > 0 && groups->coefficient[g] == groups->best;
    }
    if (has[false] && has[true]) {
        doubt_note(ev, worker, gate->score);
    }
}

/* A gate s that is near makes of the sums (a e^s + b) / (c e^s + d), which grows with s or falls:
 * the smallest and the largest of a row's heads have the largest. */
void groups_note(const Evaluator *ev, Worker *worker, const RowGroups *groups, mpfr_srcptr score,
                 mpfr_srcptr decayed, size_t count)
{
    Gate least = {NULL, NULL}, most = {NULL, NULL};
    if (!ev->observed) {
        return;
    }
    for (size_t b = 0; b < count; b++) {
        Gate gate = {score + b, decayed + b};
        note_doubt(ev, worker, groups, &gate);
        if (!shift_is_near(gate.score)) {
            note_gap(worker, groups, &gate);
            continue;
        }
        least = least.score == NULL || mpfr_less_p(gate.score, least.score) ? gate : least;
        most = most.score == NULL || mpfr_greater_p(gate.score, most.score) ? gate : most;
    }
    if (least.score != NULL) {
        note_gap(worker, groups, &least);
        note_gap(worker, groups, &most);
    }
}
