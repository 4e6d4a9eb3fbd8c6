/*
 * One position: the machine's logits and r(T')'s against r(T)'s.
 */
#include "position.h"

#include <math.h>

/* The class of a machine's largest logit, the first of equals, and that logit: -infinity where none
 * is a number. */
static size_t machine_top(double *top, const double *logits, size_t classes)
{
    size_t best = 0;
    *top = -INFINITY;
    for (size_t k = 0; k < classes; k++) {
        if (logits[k] > *top) {
            *top = logits[k];
            best = k;
        }
    }
    return best;
}

/* r(T)'s prediction and margin, once. */
static void predict(Position *position, const PositionLogits *logits)
{
    if (!position->known) {
        position->predicted = ref_logits_top(&position->margin, logits->original, logits->classes);
        position->known = true;
    }
}

/* The machine's largest logit, and the largest error of one: change [classes] is m(T') - r(T). */
static void compare(Position *position, const PositionLogits *logits, mpfr_srcptr change)
{
    double top;
    position->error = 0;
    position->machine = machine_top(&top, logits->converted, logits->classes);
    for (size_t k = 0; k < logits->classes; k++) {
        double error = fabs(mpfr_get_d(change + k, MPFR_RNDA));
        position->error = error > position->error || isnan(error) ? error : position->error;
    }
    position->changed = position->machine != position->predicted || !isfinite(top);
}

/* Is r(T')'s largest logit another than that predicted?  change [classes] is r(T') - r(T). */
static bool is_lost(size_t predicted, const PositionLogits *logits, mpfr_srcptr change)
{
    size_t best = 0;
    mpfr_t here, most;
    mpfr_inits2(REF_LOGIT_BITS, here, most, (mpfr_ptr)0);
    mpfr_add(most, logits->original, change, MPFR_RNDN);
    for (size_t k = 1; k < logits->classes; k++) {
        mpfr_add(here, logits->original + k, change + k, MPFR_RNDN);
        if (mpfr_greater_p(here, most)) {
            mpfr_swap(here, most);
            best = k;
        }
    }
    mpfr_clears(here, most, (mpfr_ptr)0);
    return best != predicted;
}

/* off = what an entry of a cell's stream may be off by. */
static void entry_off(mpfr_ptr off, const RefCell *cell)
{
    bool exact = cell->state == CELL_ZERO || cell->state == CELL_ABSENT ||
                 cell->error <= mpfr_get_emin_min();
    mpfr_set_zero(off, 1);
    if (!exact) {
        mpfr_set_ui_2exp(off, 1, cell->error, MPFR_RNDU);
    }
}

/* What r(T)'s logits at a position, and their changes to r(T'), may be off by, where its streams
 * have these errors. */
static void logits_off(mpfr_ptr original, mpfr_ptr change, const RefErrors *errors,
                       const PositionLogits *logits, const RefLayer *last, size_t p)
{
    mpfr_t x_off, e_off, more;
    mpfr_inits2(64, x_off, e_off, more, (mpfr_ptr)0);
    entry_off(x_off, &errors->error[ERROR_NATIVE][NORM_MAX]);
    entry_off(e_off, &errors->error[ERROR_CONSTRUCTION][NORM_MAX]);
    if (!last->pair->limit_is_original) {
        entry_off(more, &errors->error[ERROR_APPROXIMATION][NORM_MAX]);
        mpfr_add(e_off, e_off, more, MPFR_RNDU);
    }
    const RefLogitsToken token = {logits->unembedding, logits->gain, last->base, p, x_off};
    ref_logits_off(original, &token);
    ref_logits_change_off(change, &token, last, e_off);
    mpfr_clears(x_off, e_off, more, (mpfr_ptr)0);
}

/* KL and loss of the change, which is known to +-off. */
static void diverge(Position *position, Against against, const PositionLogits *logits,
                    mpfr_srcptr off)
{
    bool has_next = logits->next >= 0;
    RefCell kl, loss;
    ref_cell_init(&kl, logits->digits);
    ref_cell_init(&loss, logits->digits);
    ref_softmax_divergence(&kl, has_next ? &loss : NULL, logits->softmax,
                           ref_logits_row(logits->change, logits->row), off,
                           has_next ? (size_t)logits->next : 0);
    position->means[POSITION_KL + against] = figure_of(&kl);
    position->means[1 + against] = figure_of(&loss);
    ref_cell_clear(&kl);
    ref_cell_clear(&loss);
}

static void take_errors(Position *position, const RefErrors *errors)
{
    RefCell log;
    ref_cell_init(&log, REF_DIGITS); /* it takes the errors' */
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        const RefCell *error = &errors->error[kind][NORM_MAX];
        position->errors[kind] = figure_of(error);
        ref_cell_log10(&log, error);
        position->logs[kind] = figure_of(&log);
    }
    ref_cell_clear(&log);
}

void position_take(Position *position, const PositionLogits *logits, const RefLayer *last)
{
    RefErrors errors;
    RefCell loss;
    mpfr_t off, change_off;
    ref_errors_init(&errors);
    ref_cell_init(&loss, logits->digits);
    mpfr_inits2(64, off, change_off, (mpfr_ptr)0);
    ref_errors_set_digits(&errors, logits->digits);
    ref_compare_rows(&errors, last, (RefRows){position->index, 1});
    logits_off(off, change_off, &errors, logits, last, position->index);
    take_errors(position, &errors);
    predict(position, logits);
    ref_softmax_set(logits->softmax, logits->original, off);
    if (logits->next >= 0) {
        ref_softmax_loss(&loss, logits->softmax, (size_t)logits->next);
    }
    position->means[0] = figure_of(&loss);
    diverge(position, AGAINST_CONVERTED, logits, change_off);
    position->lost =
        !last->pair->limit_is_original && (!position->taken || position->lost) &&
        is_lost(position->predicted, logits, ref_logits_row(logits->change, logits->row));
    ref_logits_subtract(logits->change, logits->row, logits->native, logits->original);
    diverge(position, AGAINST_NATIVE, logits, off);
    ref_logits_subtract(logits->change, logits->row, logits->converted, logits->original);
    diverge(position, AGAINST_MACHINE, logits, off);
    compare(position, logits, ref_logits_row(logits->change, logits->row));
    double top;
    size_t native = machine_top(&top, logits->native, logits->classes);
    position->native_changed = native != position->predicted || !isfinite(top);
    position->taken = true;
    ref_errors_clear(&errors);
    ref_cell_clear(&loss);
    mpfr_clears(off, change_off, (mpfr_ptr)0);
}

void position_compare(Position *position, const PositionLogits *logits, bool kl)
{
    predict(position, logits);
    ref_logits_subtract(logits->change, logits->row, logits->converted, logits->original);
    compare(position, logits, ref_logits_row(logits->change, logits->row));
    if (kl) {
        mpfr_t off; /* r(T)'s own is far below what the machine loses */
        mpfr_init2(off, 64);
        mpfr_set_zero(off, 1);
        ref_softmax_set(logits->softmax, logits->original, off);
        diverge(position, AGAINST_MACHINE, logits, off);
        mpfr_clear(off);
    }
}
