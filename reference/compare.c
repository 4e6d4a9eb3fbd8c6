/*
 * The six errors after a layer (docs/mathematics.md, section 2), each with what the precision
 * may have lost.
 */
#include "base.h"
#include "cell.h"
#include "run.h"

#include "../cases/fault.h"

#include <stdint.h>

/* Sums over the compared entries. */
typedef struct {
    mpfr_t max, squares, d, t;
} Norms;

static void norms_init(Norms *norms, mpfr_prec_t bits)
{
    mpfr_inits2(REF_CELL_BITS, norms->max, norms->squares, norms->t, (mpfr_ptr)0);
    mpfr_init2(norms->d, bits);
    mpfr_set_zero(norms->max, 1);
    mpfr_set_zero(norms->squares, 1);
}

static void norms_clear(Norms *norms)
{
    mpfr_clears(norms->max, norms->squares, norms->d, norms->t, (mpfr_ptr)0);
}

/* Takes in one entry, norms->d.  A NaN or infinity stays. */
static void norms_add(Norms *norms)
{
    mpfr_sqr(norms->t, norms->d, MPFR_RNDN);
    mpfr_add(norms->squares, norms->squares, norms->t, MPFR_RNDN);
    if (FAULT("nan-swallowed", false, !mpfr_number_p(norms->d) || mpfr_nan_p(norms->max))) {
        mpfr_set_nan(norms->max);
    } else if (FAULT("last-for-largest", true, mpfr_cmpabs(norms->d, norms->max) > 0)) {
        mpfr_abs(norms->max, norms->d, MPFR_RNDN);
    }
}

/* One side of a difference: a stored matrix, a run, or a machine's stream. */
typedef struct {
    const ApMat *mat;
    const RefRun *run;
    const MachineView *machine;
} Side;

static void side_subtract(mpfr_ptr d, const Side *side, Columns columns, size_t i, size_t c,
                          bool first)
{
    if (side->machine != NULL) {
        double entry = side->machine->data[i * side->machine->ld + columns.first + c];
        if (first) {
            mpfr_set_d(d, entry, MPFR_RNDN);
        } else {
            mpfr_sub_d(d, d, entry, MPFR_RNDN);
        }
        return;
    }
    mpfr_srcptr entry =
        side->mat != NULL ? ap_at(side->mat, i, c)
                          : ref_run_entry(side->run, layout_token_row(&side->run->model->layout, i),
                                          columns.first + c);
    if (first) {
        mpfr_set(d, entry, MPFR_RNDN);
    } else {
        mpfr_sub(d, d, entry, MPFR_RNDN);
    }
}

/* What every kind of error shares after one layer. */
typedef struct {
    RefErrors *errors;
    size_t n;
    Columns columns;
    mpfr_prec_t bits;          /* holds any difference's leading bits */
    mpfr_srcptr norm_original; /* Frobenius norm of r(T) */
} Comparison;

/* errors->error[kind] = the norms of a - b, known to +-error per entry. */
static void compare_sides(const Comparison *comparison, ErrorKind kind, Side a, Side b,
                          mpfr_srcptr error, bool proven_zero)
{
    RefCell *cells = comparison->errors->error[kind];
    Norms norms;
    norms_init(&norms, comparison->bits);
    for (size_t i = 0; i < comparison->n; i++) {
        for (size_t c = FAULT("first-column-skipped", 1, 0); c < comparison->columns.count; c++) {
            side_subtract(norms.d, &a, comparison->columns, i, c, true);
            side_subtract(norms.d, &b, comparison->columns, i, c, false);
            norms_add(&norms);
        }
    }
    mpfr_t value, scaled;
    mpfr_inits2(REF_CELL_BITS, value, scaled, (mpfr_ptr)0);
    unsigned long count = (unsigned long)(comparison->n * comparison->columns.count);
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        mpfr_set(scaled, error, MPFR_RNDN);
        if (norm == NORM_MAX) {
            mpfr_set(value, norms.max, MPFR_RNDN);
        } else if (norm == NORM_RMS) {
            mpfr_div_ui(value, norms.squares, count, MPFR_RNDN);
            (void)FAULT("rms-without-root", 0, mpfr_sqrt(value, value, MPFR_RNDN));
        } else {
            if (mpfr_zero_p(comparison->norm_original)) {
                continue; /* no relative error of a zero */
            }
            mpfr_sqrt(value, norms.squares, MPFR_RNDN);
            mpfr_div(value, value,
                     FAULT("rel-to-the-largest-entry", comparison->errors->max_original,
                           comparison->norm_original),
                     MPFR_RNDN);
            mpfr_sqrt_ui(norms.t, count, MPFR_RNDU);
            mpfr_mul(scaled, scaled, norms.t, MPFR_RNDU);
            mpfr_div(scaled, scaled, comparison->norm_original, MPFR_RNDU);
        }
        if (proven_zero) {
            comparison->errors->contradiction |= !cell_zero(&cells[norm], value, scaled);
        } else {
            cell_settle(&cells[norm], value, scaled);
        }
    }
    mpfr_clears(value, scaled, (mpfr_ptr)0);
    norms_clear(&norms);
}

/* 2^exponent */
static void set_power(mpfr_ptr y, mpfr_exp_t exponent)
{
    mpfr_set_ui_2exp(y, 1, exponent, MPFR_RNDU);
}

/* Norm and largest entry of r(T). */
static void original_size(RefErrors *errors, mpfr_ptr norm, const ApMat *original)
{
    Norms norms;
    norms_init(&norms, original->bits);
    for (size_t i = 0; i < original->rows * original->columns; i++) {
        mpfr_set(norms.d, original->entry + i, MPFR_RNDN);
        norms_add(&norms);
    }
    mpfr_sqrt(norm, norms.squares, MPFR_RNDN);
    mpfr_set(errors->max_original, norms.max, MPFR_RNDN);
    norms_clear(&norms);
}

/* The largest |entry| of rows first .. first + rows - 1 in some columns of the run's stream. */
static void block_max(mpfr_ptr max, const RefRun *run, size_t first, size_t rows, Columns columns)
{
    mpfr_set_zero(max, 1);
    for (size_t i = first; i < first + rows; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            mpfr_srcptr entry = ref_run_entry(run, i, c);
            if (mpfr_nan_p(entry)) {
                mpfr_set_nan(max);
                return;
            }
            if (mpfr_cmpabs(entry, max) > 0) {
                mpfr_abs(max, entry, MPFR_RNDN);
            }
        }
    }
}

/* The one-hot block minus the identity, where the run stores it; else no head can write it. */
static void compare_onehot(RefErrors *errors, const RefRun *run, mpfr_ptr t)
{
    size_t content = layout_content(&run->model->layout);
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
    mpfr_set_zero(max, 1);
    for (size_t i = 0; i < run->stream.rows; i++) {
        for (size_t c = content; c < run->stream.columns; c++) {
            mpfr_sub_ui(t, ref_run_entry(run, i, c), c - content == i, MPFR_RNDA);
            if (mpfr_nan_p(t) || mpfr_cmpabs(t, max) > 0) {
                mpfr_abs(max, t, MPFR_RNDA);
            }
        }
    }
    mpfr_set_zero(t, 1);
    cell_settle(&errors->onehot, max, t);
    mpfr_clear(max);
}

static void compare_leaks(RefErrors *errors, const Pair *pair, size_t layer, const RefRun *run,
                          mpfr_srcptr error)
{
    const Layout *layout = &pair->converted.layout;
    Columns cleared = pair->cleared[layer - 1], content = {0, layout_content(layout)};
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
    if (layout->bias_row != BIAS_ROW_NONE) {
        block_max(max, run, layout_bias_row(layout), 1, content);
        if (pair->bias_row_content == NULL && model_bias_row_stays_zero(&pair->converted)) {
            errors->contradiction |= !cell_zero(&errors->bias_row, max, error);
        } else {
            cell_settle(&errors->bias_row, max, error);
        }
        compare_onehot(errors, run, max);
    }
    if (cleared.count > 0) {
        block_max(max, run, layout_token_row(layout, 0), layout->n, cleared);
        cell_settle(&errors->hidden, max, error);
    }
    mpfr_clear(max);
}

/* r(T)'s scores carry the stream's relative loss and that of their product. */
static void compare_score(RefErrors *errors, const RefPlan *plan, const RefBase *base, size_t layer)
{
    mpfr_srcptr score = ap_at(&base->score_max, 0, layer - 1);
    mpfr_t error;
    if (!base->has_scores) {
        return;
    }
    mpfr_init2(error, REF_CELL_BITS);
    mpfr_exp_t relative = ref_plan_relative_error(plan, layer, base->bits);
    mpfr_mul_2si(error, score, (long)relative + 8, MPFR_RNDU);
    cell_settle(&errors->score, score, error);
    mpfr_clear(error);
}

void ref_compare(RefErrors *errors, const Pair *pair, const RefPlan *plan, const RefBase *base,
                 size_t layer, const RefRun *run, const MachineView *converted,
                 const MachineView *original)
{
    mpfr_t norm, e_base, e_run, e_both, e_twice, exact;
    Side t = {.mat = &base->original[layer - 1]}, limit = {.mat = &base->limit[layer - 1]};
    Side prime = {.run = run}, m_t = {.machine = original}, m_prime = {.machine = converted};
    mpfr_prec_t bits = base->bits;
    bool frozen = layer <= model_layers_independent_of_omega(&pair->converted);
    errors_reset(errors);
    mpfr_inits2(REF_CELL_BITS, norm, e_base, e_run, e_both, e_twice, exact, (mpfr_ptr)0);
    original_size(errors, norm, t.mat);
    set_power(e_base, ref_plan_error(plan, layer, base->bits));
    mpfr_mul_2ui(e_twice, e_base, 1, MPFR_RNDU);
    mpfr_set_zero(exact, 1);
    if (run != NULL && run->bits > bits) {
        bits = run->bits;
    }
    Comparison comparison = {errors, pair->original.layout.n, pair->compared[layer - 1], bits + 64,
                             norm};
    compare_sides(&comparison, ERROR_APPROXIMATION, limit, t, e_twice, pair->limit_is_original);
    if (run != NULL) {
        set_power(e_run, ref_plan_error(plan, layer, run->claimed_bits));
        mpfr_add(e_both, e_base, e_run, MPFR_RNDU);
        compare_sides(&comparison, ERROR_CONSTRUCTION, prime, limit, e_both, frozen);
        compare_leaks(errors, pair, layer, run, e_run);
        if (converted != NULL) {
            compare_sides(&comparison, ERROR_ROUNDING, m_prime, prime, e_run, false);
        }
    }
    if (original != NULL) {
        compare_sides(&comparison, ERROR_NATIVE, m_t, t, e_base, false);
    }
    if (converted != NULL) {
        compare_sides(&comparison, ERROR_TOTAL, m_prime, t, e_base, false);
    }
    if (converted != NULL && original != NULL) {
        compare_sides(&comparison, ERROR_OBSERVED, m_prime, m_t, exact, false);
    }
    compare_score(errors, plan, base, layer);
    mpfr_clears(norm, e_base, e_run, e_both, e_twice, exact, (mpfr_ptr)0);
}
