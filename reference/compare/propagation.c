/*
 * An error after a layer, split into what the layer injects and what it inherits.
 *
 * Of the construction error, inherited goes beside e through the steps of the difference, without
 * leaks (run.c), so that nothing cancels whatever Omega is; and injected = e - inherited.  F(x^) is
 * evaluated once more by itself, as a check.  Of the rounding error both come from F(x^), as
 * machine errors are far larger than what the working precision loses.
 */
#include "propagation.h"

#include "cell.h"

#include "../run/run.h"
#include "../trajectory/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest |entry| of something, what an entry may be off by, and whether all are proven to
 * be 0. */
typedef struct {
    mpfr_t max, error;
    bool zero;
} Size;

/* An error: at first before the layer, then its parts after it. */
typedef struct {
    Size incoming, inherited, injected;
} Split;

struct RefPropagation {
    const Pair *pair;
    const RefPlan *plan;
    const RefBase *base;
    const RefRun *run;
    RefRun *limit;   /* T_infinity's layer at x^ = r(T') */
    RefRun *exact;   /* T''s at x^ = m(T'), or NULL */
    double *machine; /* [n, content] m(T') before the layer, or NULL */
    bool nonfinite;  /* there is a NaN or infinity in it */
    Split construction, rounding;
};

enum { SPLITS = 2, SIZES = 3 };

/* Size i of both splits. */
static Size *size_at(RefPropagation *propagation, int i)
{
    Split *split = i < SIZES ? &propagation->construction : &propagation->rounding;
    Size *const sizes[SIZES] = {&split->incoming, &split->inherited, &split->injected};
    return sizes[i % SIZES];
}

RefRun *ref_propagation_run_open(const Pair *pair, double omega, mpfr_prec_t bits,
                                 const RefBase *base)
{
    RunOptions options = {.difference = bits, .inherited = pair->cleared};
    options.known = base != NULL && base->bits == bits ? base->tape : NULL;
    return run_open(&pair->converted, pair->converted_x, pair->bias_row_content, omega, bits,
                    REF_STRUCTURED, &options);
}

mpfr_srcptr ref_run_inherited(const RefRun *run, size_t row, size_t column)
{
    return ap_at(&run->inherited->stream, row, column);
}

static RefRun *layer_open(const Pair *pair, double omega, mpfr_prec_t bits)
{
    return ref_run_open(&pair->converted, pair->converted_x, pair->bias_row_content, omega, bits,
                        REF_STRUCTURED);
}

RefPropagation *ref_propagation_open(const Pair *pair, const RefPlan *plan, const RefBase *base,
                                     const RefRun *run, double omega, bool machine)
{
    const Layout *layout = &pair->converted.layout;
    RefPropagation *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    made->pair = pair;
    made->plan = plan;
    made->base = base;
    made->run = run;
    for (int i = 0; i < SPLITS * SIZES; i++) {
        mpfr_inits2(REF_CELL_BITS, size_at(made, i)->max, size_at(made, i)->error, (mpfr_ptr)0);
    }
    made->limit = layer_open(pair, INFINITY, run->claimed.x);
    if (machine) {
        made->exact = layer_open(pair, omega, run->claimed.x);
        made->machine = calloc(layout->n * layout_content(layout), sizeof *made->machine);
    }
    if (made->limit == NULL || (machine && (made->exact == NULL || made->machine == NULL))) {
        ref_propagation_clear(made);
        return NULL;
    }
    return made;
}

void ref_propagation_clear(RefPropagation *propagation)
{
    if (propagation == NULL) {
        return;
    }
    for (int i = 0; i < SPLITS * SIZES; i++) {
        mpfr_clears(size_at(propagation, i)->max, size_at(propagation, i)->error, (mpfr_ptr)0);
    }
    ref_run_clear(propagation->limit);
    ref_run_clear(propagation->exact);
    free(propagation->machine);
    free(propagation);
}

double ref_propagation_bytes(const Pair *pair, mpfr_prec_t bits)
{
    const Layout *layout = &pair->converted.layout;
    return ref_difference_bytes(pair, (RefBits){bits, bits}) +
           2 * ref_run_bytes(pair, bits, REF_STRUCTURED) +
           (double)layout->n * (double)layout_content(layout) * (double)sizeof(double);
}

/* ---- Sizes --------------------------------------------------------------------------------- */

static void size_begin(Size *size, bool zero)
{
    mpfr_set_zero(size->max, 1);
    mpfr_set_zero(size->error, 1);
    size->zero = zero;
}

static void size_add(Size *size, mpfr_srcptr entry)
{
    if (mpfr_nan_p(entry) || mpfr_nan_p(size->max)) {
        mpfr_set_nan(size->max);
    } else if (mpfr_cmpabs(entry, size->max) > 0) {
        mpfr_abs(size->max, entry, MPFR_RNDN);
    }
}

static void error_at_least(mpfr_ptr error, mpfr_exp_t exponent)
{
    if (mpfr_cmp_ui_2exp(error, 1, exponent) < 0) {
        mpfr_set_ui_2exp(error, 1, exponent, MPFR_RNDU);
    }
}

/* error = what e, or what is inherited of it, may be off by in the columns that a layer
 * compares, of numbers as large as `largest`: as compare.c has it of e. */
static void change_error(mpfr_ptr error, const RefPropagation *propagation, size_t layer,
                         mpfr_srcptr largest)
{
    mpfr_prec_t bits = propagation->run->claimed.x;
    mpfr_exp_t relative;
    if (ref_plan_difference_error(&relative, propagation->plan, layer, BLOCK_COMPARED, bits) &&
        mpfr_regular_p(largest)) {
        mpfr_mul_2si(error, largest, (long)relative, MPFR_RNDU);
    } else {
        mpfr_set_ui_2exp(error, 1, ref_plan_error(propagation->plan, layer, bits), MPFR_RNDU);
    }
}

/* error = what an exact layer at x^ may be off by: as at x, or, where its stream is larger,
 * relative to that. */
static void layer_error(mpfr_ptr error, const RefPropagation *propagation, const RefRun *layer)
{
    mpfr_prec_t bits = propagation->run->claimed.x;
    size_t l = layer->next.layer;
    Size largest;
    mpfr_init2(largest.max, REF_CELL_BITS);
    mpfr_set_zero(largest.max, 1);
    for (size_t i = 0; i < layer->stream.rows * layer->stream.columns; i++) {
        size_add(&largest, layer->stream.entry + i);
    }
    mpfr_set_ui_2exp(error, 1, ref_plan_error(propagation->plan, l, bits), MPFR_RNDU);
    if (mpfr_regular_p(largest.max)) {
        error_at_least(error, mpfr_get_exp(largest.max) +
                                  ref_plan_relative_error(propagation->plan, l, bits));
    }
    mpfr_clear(largest.max);
}

/* ---- Before a layer ------------------------------------------------------------------------ */

/* The layer's streams become x, and x^ where it is handed on: machine, or sum where that is
 * NULL. */
static void load(RefPropagation *propagation, RefRun *layer, const ApMat *x, const double *machine)
{
    const RefRun *run = propagation->run;
    const Layout *layout = &run->model->layout;
    layer->next = run->next;
    for (size_t i = 0; i < x->rows * x->columns; i++) {
        mpfr_set(layer->stream.entry + i, x->entry + i, MPFR_RNDN);
    }
    for (size_t i = 0; run->next.layer > 0 && i < layout->n; i++) {
        size_t row = layout_token_row(layout, i);
        for (size_t c = 0; c < x->columns; c++) {
            mpfr_ptr entry = ap_at(&layer->stream, row, c);
            if (!run_hands_on(propagation->pair->cleared, run->next.layer, c)) {
                continue;
            }
            if (machine != NULL) {
                mpfr_set_d(entry, machine[i * x->columns + c], MPFR_RNDN);
            } else {
                mpfr_set(entry, ap_at(&run->e->sum, row, c), MPFR_RNDN);
            }
        }
    }
}

/* Were all tokens of T' those of T_infinity, by proof? */
static bool same_before(const RefPropagation *propagation)
{
    RefRows all = {0, propagation->pair->converted.layout.n};
    size_t l = propagation->run->next.layer;
    return l == 0 || (proof_compared(propagation->base->proof, l, all) & PROVEN_SAME) != 0;
}

/* The errors that come in, of what is handed on. */
static void measure_incoming(RefPropagation *propagation, RefRows rows)
{
    const RefRun *run = propagation->run;
    const Layout *layout = &run->model->layout;
    size_t l = run->next.layer, content = run->e->stream.columns;
    Size *e = &propagation->construction.incoming, *m = &propagation->rounding.incoming;
    mpfr_t d;
    size_begin(e, same_before(propagation));
    size_begin(m, l == 0);
    if (l == 0) {
        return;
    }
    mpfr_init2(d, run->ev.bits + 64);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        size_t row = layout_token_row(layout, i);
        for (size_t c = 0; c < content; c++) {
            if (!run_hands_on(propagation->pair->cleared, l, c)) {
                continue;
            }
            size_add(e, ap_at(&run->e->stream, row, c));
            if (propagation->machine != NULL) {
                mpfr_set_d(d, propagation->machine[i * content + c], MPFR_RNDN);
                mpfr_sub(d, d, ap_at(&run->e->sum, row, c), MPFR_RNDN);
                size_add(m, d);
            }
        }
    }
    mpfr_clear(d);
    change_error(e->error, propagation, l, e->max);
    error_at_least(m->error, ref_plan_error(propagation->plan, l, run->claimed.x));
}

bool ref_propagation_begin(RefPropagation *propagation, RefRows rows)
{
    const RefRun *run = propagation->run;
    measure_incoming(propagation, rows);
    load(propagation, propagation->limit, &run->stream, NULL);
    ref_run_layer(propagation->limit);
    if (propagation->exact == NULL) {
        return !propagation->limit->ev.failed;
    }
    load(propagation, propagation->exact, &run->e->sum, propagation->machine);
    if (propagation->nonfinite) {
        run_spoil(&propagation->exact->stream);
    } else {
        ref_run_layer(propagation->exact);
    }
    return !propagation->limit->ev.failed && !propagation->exact->ev.failed;
}

/* ---- After a layer ------------------------------------------------------------------------- */

/* Is |d| above a + b + c?  Not where one of them is no number. */
static bool exceeds(mpfr_srcptr d, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
    mpfr_t most;
    mpfr_init2(most, REF_CELL_BITS);
    mpfr_add(most, a, b, MPFR_RNDU);
    mpfr_add(most, most, c, MPFR_RNDU);
    bool more = mpfr_number_p(d) && mpfr_number_p(most) && mpfr_cmpabs(d, most) > 0;
    mpfr_clear(most);
    return more;
}

/* Rows and columns that are compared after the layer that the run has done. */
typedef struct {
    RefPropagation *propagation;
    RefErrors *errors;
    RefRows rows;
    Columns columns;
    size_t layer;
} Compared;

/* The largest |e| or |inherited| of any token, for their errors. */
static void change_size(Size *size, const Compared *compared, const ApMat *change)
{
    const Layout *layout = &compared->propagation->run->model->layout;
    size_begin(size, false);
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < compared->columns.count; c++) {
            size_add(size, ap_at(change, layout_token_row(layout, i), compared->columns.first + c));
        }
    }
}

/* error: of e, proven to be 0 where it is; what is inherited is as uncertain as the larger of
 * both. */
static void change_errors(const Compared *compared, mpfr_ptr error)
{
    RefPropagation *propagation = compared->propagation;
    const RefRun *run = propagation->run;
    Split *split = &propagation->construction;
    change_size(&split->injected, compared, &run->e->stream);
    change_error(error, propagation, compared->layer, split->injected.max);
    change_size(&split->inherited, compared, &run->inherited->stream);
    mpfr_max(split->inherited.max, split->inherited.max, split->injected.max, MPFR_RNDN);
    change_error(split->inherited.error, propagation, compared->layer, split->inherited.max);
}

/* The identity in one entry: e - inherited is r(T') - F(x^).  t is scratch. */
static bool identity_fails(const Compared *compared, size_t row, size_t c, mpfr_srcptr injected,
                           mpfr_srcptr lost, mpfr_ptr t)
{
    const RefPropagation *propagation = compared->propagation;
    mpfr_sub(t, ap_at(&propagation->run->e->sum, row, c),
             ap_at(&propagation->limit->stream, row, c), MPFR_RNDN);
    mpfr_sub(t, t, injected, MPFR_RNDN);
    return exceeds(t, lost, lost, propagation->construction.injected.error);
}

static void split_construction(const Compared *compared)
{
    RefPropagation *propagation = compared->propagation;
    const RefRun *run = propagation->run;
    Size *inherited = &propagation->construction.inherited;
    Size *injected = &propagation->construction.injected;
    bool zero = propagation->construction.incoming.zero;
    int proven = proof_compared(propagation->base->proof, compared->layer, compared->rows);
    mpfr_t d, t, lost, error;
    mpfr_inits2(run->ev.bits + 64, d, t, (mpfr_ptr)0);
    mpfr_inits2(REF_CELL_BITS, lost, error, (mpfr_ptr)0);
    layer_error(lost, propagation, propagation->limit);
    change_errors(compared, error);
    mpfr_set_zero(inherited->max, 1);
    size_begin(injected, zero && (proven & PROVEN_SAME) != 0);
    inherited->zero = zero;
    mpfr_set(injected->error, error, MPFR_RNDU);
    if (!zero) {
        mpfr_add(injected->error, injected->error, inherited->error, MPFR_RNDU);
    }
    for (size_t i = compared->rows.first; i < compared->rows.first + compared->rows.count; i++) {
        size_t row = layout_token_row(&run->model->layout, i);
        for (size_t k = 0; k < compared->columns.count; k++) {
            size_t c = compared->columns.first + k;
            mpfr_srcptr part = ap_at(&run->inherited->stream, row, c);
            mpfr_sub(d, ap_at(&run->e->stream, row, c), part, MPFR_RNDN);
            size_add(inherited, part);
            size_add(injected, d);
            compared->errors->contradiction |= identity_fails(compared, row, c, d, lost, t);
        }
    }
    mpfr_clears(d, t, lost, error, (mpfr_ptr)0);
}

/* m(T') - F(x^), and F(x^) - r(T'). */
static void split_rounding(const Compared *compared, const MachineView *converted)
{
    RefPropagation *propagation = compared->propagation;
    const RefRun *run = propagation->run;
    Size *inherited = &propagation->rounding.inherited;
    Size *injected = &propagation->rounding.injected;
    mpfr_t d;
    mpfr_init2(d, run->ev.bits + 64);
    size_begin(inherited, propagation->rounding.incoming.zero);
    size_begin(injected, false);
    layer_error(injected->error, propagation, propagation->exact);
    mpfr_mul_2ui(inherited->error, injected->error, 1, MPFR_RNDU);
    for (size_t i = compared->rows.first; i < compared->rows.first + compared->rows.count; i++) {
        size_t row = layout_token_row(&run->model->layout, i);
        for (size_t k = 0; k < compared->columns.count; k++) {
            size_t c = compared->columns.first + k;
            mpfr_srcptr exact = ap_at(&propagation->exact->stream, row, c);
            mpfr_sub(d, exact, ap_at(&run->e->sum, row, c), MPFR_RNDN);
            size_add(inherited, d);
            mpfr_set_d(d, converted->data[i * converted->ld + c], MPFR_RNDN);
            mpfr_sub(d, d, exact, MPFR_RNDN);
            size_add(injected, d);
        }
    }
    mpfr_clear(d);
}

static void settle(RefErrors *errors, RefPropagationCell i, const Size *size)
{
    RefCell *cell = &errors->propagation[i];
    if (size->zero) {
        errors->contradiction |= !cell_zero(cell, size->max, size->error);
    } else {
        cell_settle(cell, size->max, size->error);
    }
}

/* gain = inherited / incoming, absent where nothing came in that is known to be more than 0.  With
 * errors a of inherited and b of incoming it is off by less than (a + gain b) / (incoming - b). */
static void settle_gain(RefErrors *errors, RefPropagationCell i, const Split *split)
{
    const Size *in = &split->incoming, *out = &split->inherited;
    mpfr_t gain, error, least;
    if (in->zero || (mpfr_number_p(in->max) && mpfr_lessequal_p(in->max, in->error))) {
        return;
    }
    mpfr_inits2(REF_CELL_BITS, gain, error, least, (mpfr_ptr)0);
    mpfr_div(gain, out->max, in->max, MPFR_RNDN);
    mpfr_sub(least, in->max, in->error, MPFR_RNDD);
    mpfr_mul(error, gain, in->error, MPFR_RNDU);
    mpfr_add(error, error, out->error, MPFR_RNDU);
    mpfr_div(error, error, least, MPFR_RNDU);
    cell_settle(&errors->propagation[i], gain, error);
    mpfr_clears(gain, error, least, (mpfr_ptr)0);
}

static void settle_split(RefErrors *errors, RefPropagationCell first, const Split *split)
{
    settle(errors, first, &split->injected);
    settle(errors, first + 1, &split->inherited);
    settle_gain(errors, first + 2, split);
}

static size_t machine_count(const RefPropagation *propagation)
{
    const Layout *layout = &propagation->pair->converted.layout;
    return layout->n * layout_content(layout);
}

static void note_nonfinite(RefPropagation *propagation)
{
    propagation->nonfinite = false;
    for (size_t i = 0; i < machine_count(propagation); i++) {
        propagation->nonfinite = propagation->nonfinite || !isfinite(propagation->machine[i]);
    }
}

/* m(T') as it is before the next layer. */
static void keep_machine(RefPropagation *propagation, const MachineView *converted)
{
    const Layout *layout = &propagation->pair->converted.layout;
    size_t content = layout_content(layout);
    for (size_t i = 0; i < layout->n; i++) {
        memcpy(propagation->machine + i * content, converted->data + i * converted->ld,
               content * sizeof *propagation->machine);
    }
    note_nonfinite(propagation);
}

void ref_propagation_compare(RefErrors *errors, RefPropagation *propagation, RefRows rows,
                             const MachineView *converted)
{
    size_t layer = propagation->run->next.layer;
    Compared compared = {propagation, errors, rows, propagation->pair->compared[layer - 1], layer};
    split_construction(&compared);
    settle_split(errors, PROPAGATION_CONSTRUCTION_INJECTED, &propagation->construction);
    if (converted != NULL) {
        split_rounding(&compared, converted);
        settle_split(errors, PROPAGATION_ROUNDING_INJECTED, &propagation->rounding);
        keep_machine(propagation, converted);
    }
}

void ref_propagation_visit(RefArchive *archive, void *state)
{
    RefPropagation *propagation = state;
    if (propagation->machine != NULL) {
        ref_archive_bytes(archive, propagation->machine,
                          machine_count(propagation) * sizeof *propagation->machine);
        note_nonfinite(propagation);
    }
}
