/*
 * An error after a layer, split into what the layer injects and what it inherits.
 *
 * Of the construction error, inherited goes beside e through the steps of the difference, without
 * leaks (run.c), so that nothing cancels whatever Omega is; and injected = e - inherited.  F(x^) is
 * evaluated once more by itself, as a check.  Of the rounding error both come from F(x^), as
 * machine errors are far larger than what the working precision loses.
 */
#include "propagation.h"

#include "../../memory/need.h"
#include "cell.h"
#include "comparison.h"

#include "../run/run.h"
#include "../trajectory/base.h"

#include <math.h>
#include <stdlib.h>

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
    const RunOptions options = {.difference = true,
                                .inherited = pair->cleared,
                                .known = base->bits == bits ? base->tape : NULL,
                                .weights = base->weights,
                                .coarse = base->coarse};
    const Start start = pair_start(pair, omega);
    return run_open(&start, bits, &options);
}

mpfr_srcptr ref_run_inherited(const RefRun *run, size_t row, size_t column)
{
    return ap_at(&run->inherited->stream, row, column);
}

/* An evaluation, with radii, of one layer at a time. */
static RefRun *layer_open(const Pair *pair, double omega, const RefBase *base, mpfr_prec_t bits)
{
    const Start start = pair_start(pair, omega);
    const RunOptions options = {.weights = base->weights, .coarse = base->coarse};
    RefRun *run = run_open(&start, bits, &options);
    ref_run_certify(run);
    return run;
}

RefPropagation *ref_propagation_open(const Pair *pair, const RefBase *base, const RefRun *run,
                                     double omega, bool machine)
{
    const Layout *layout = &pair->converted.layout;
    RefPropagation *made = need_zeros(1, sizeof *made);
    made->pair = pair;
    made->base = base;
    made->run = run;
    for (int i = 0; i < SPLITS * SIZES; i++) {
        mpfr_inits2(REF_CELL_BITS, size_at(made, i)->max, size_at(made, i)->error, (mpfr_ptr)0);
    }
    made->limit = layer_open(pair, INFINITY, base, run->ev.bits);
    if (machine) {
        made->exact = layer_open(pair, omega, base, run->ev.bits);
        made->machine = need_zeros(layout->n * layout_content(layout), sizeof *made->machine);
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
    return ref_difference_bytes(pair, bits) + 2 * ref_run_bytes(pair, bits) +
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

/* error = the largest radius of some tokens in some columns. */
static void radius_of(mpfr_ptr error, const RefRun *run, RadiusOf of, RefRows rows, Columns columns)
{
    size_t first = layout_token_row(&run->model->layout, rows.first);
    ref_run_radius(run, of, (RefBlock){first, rows.count, columns}, (RefRadii){error, NULL});
    comparison_limit(error);
}

/* Adds the rounding of a subtraction done with 64 bits more than its two numbers have. */
static void add_rounding(Size *size)
{
    mpfr_t rounding;
    mpfr_init2(rounding, REF_CELL_BITS);
    mpfr_mul_2si(rounding, size->max, -COMPARED_BITS, MPFR_RNDU);
    mpfr_add(size->error, size->error, rounding, MPFR_RNDU);
    mpfr_clear(rounding);
}

/* ---- Before a layer ------------------------------------------------------------------------ */

/* The layer's streams become x, and x^ where it is handed on: machine, or sum where that is
 * NULL. */
static void load(RefPropagation *propagation, RefRun *layer, const ApMat *x, const double *machine)
{
    const RefRun *run = propagation->run;
    const Layout *layout = &run->model->layout;
    layer->next = run->next;
    if (run->next.layer > 0) {
        radius_restart(layer->radius, run->radius,
                       machine != NULL ? BEGINS_AT_MACHINE : BEGINS_AT_SUM,
                       propagation->pair->cleared[run->next.layer - 1]);
    }
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

/* Columns that hold all that is handed on. */
static Columns columns_handed_on(Columns cleared, size_t content)
{
    bool rest = cleared.count > 0 && cleared.first + cleared.count == content;
    return (Columns){0, rest ? cleared.first : content};
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
    Columns columns = columns_handed_on(propagation->pair->cleared[l - 1], content);
    radius_of(e->error, run, RADIUS_DIFFERENCE, rows, columns);
    radius_of(m->error, run, RADIUS_SUM, rows, columns);
    add_rounding(m);
}

void ref_propagation_begin(RefPropagation *propagation, RefRows rows)
{
    const RefRun *run = propagation->run;
    measure_incoming(propagation, rows);
    load(propagation, propagation->limit, &run->stream, NULL);
    ref_run_layer(propagation->limit);
    if (propagation->exact == NULL) {
        return;
    }
    load(propagation, propagation->exact, &run->e->sum, propagation->machine);
    if (propagation->nonfinite) {
        run_spoil(&propagation->exact->stream);
    } else {
        ref_run_layer(propagation->exact);
    }
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

/* The identity in one entry: e - inherited is r(T') - F(x^).  t is scratch. */
static bool identity_fails(const Compared *compared, size_t row, size_t c, mpfr_srcptr injected,
                           mpfr_t lost[2], mpfr_ptr t)
{
    const RefPropagation *propagation = compared->propagation;
    mpfr_sub(t, ap_at(&propagation->run->e->sum, row, c),
             ap_at(&propagation->limit->stream, row, c), MPFR_RNDN);
    mpfr_sub(t, t, injected, MPFR_RNDN);
    return exceeds(t, lost[0], lost[1], propagation->construction.injected.error);
}

/* The largest errors of the parts; lost: those of r(T') and of F(x^). */
static void construction_errors(const Compared *compared, mpfr_t lost[2])
{
    RefPropagation *propagation = compared->propagation;
    const RefRun *run = propagation->run;
    const RefRows rows = compared->rows;
    const Columns columns = compared->columns;
    Split *split = &propagation->construction;
    radius_of(lost[0], run, RADIUS_SUM, rows, columns);
    radius_of(lost[1], propagation->limit, RADIUS_STREAM, rows, columns);
    radius_of(split->inherited.error, run, RADIUS_INHERITED, rows, columns);
    mpfr_set_zero(split->injected.error, 1);
    if (!split->injected.zero) {
        radius_of(split->injected.error, run, RADIUS_DIFFERENCE, rows, columns);
    }
    if (!split->inherited.zero) {
        mpfr_add(split->injected.error, split->injected.error, split->inherited.error, MPFR_RNDU);
    }
}

static void split_construction(const Compared *compared)
{
    RefPropagation *propagation = compared->propagation;
    const RefRun *run = propagation->run;
    Size *inherited = &propagation->construction.inherited;
    Size *injected = &propagation->construction.injected;
    bool zero = propagation->construction.incoming.zero;
    int proven = proof_compared(propagation->base->proof, compared->layer, compared->rows);
    mpfr_t d, t, lost[2];
    mpfr_inits2(run->ev.bits + 64, d, t, (mpfr_ptr)0);
    mpfr_inits2(REF_CELL_BITS, lost[0], lost[1], (mpfr_ptr)0);
    size_begin(inherited, zero);
    size_begin(injected, zero && (proven & PROVEN_SAME) != 0);
    construction_errors(compared, lost);
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
    add_rounding(injected);
    mpfr_clears(d, t, lost[0], lost[1], (mpfr_ptr)0);
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
    radius_of(injected->error, propagation->exact, RADIUS_STREAM, compared->rows,
              compared->columns);
    radius_of(inherited->error, run, RADIUS_SUM, compared->rows, compared->columns);
    mpfr_add(inherited->error, inherited->error, injected->error, MPFR_RNDU);
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
    add_rounding(inherited);
    add_rounding(injected);
    mpfr_clear(d);
}

/* carried: not what two evaluations are apart, which may as well be nothing. */
static void settle_cell(RefErrors *errors, RefCell *cell, mpfr_srcptr value, mpfr_srcptr error,
                        bool carried)
{
    cell_settle(cell, value, error);
    if (carried || cell->lacking > 0) {
        errors->lacking = fmax(errors->lacking, cell_lacks(cell, value, error));
    }
}

static void settle(RefErrors *errors, RefPropagationCell i, const Size *size)
{
    RefCell *cell = &errors->propagation[i];
    if (size->zero) {
        errors->contradiction |= !cell_zero(cell, size->max, size->error);
    } else {
        settle_cell(errors, cell, size->max, size->error, i == PROPAGATION_CONSTRUCTION_INHERITED);
    }
}

/* gain = inherited / incoming, absent where nothing came in that is known to be more than 0.  With
 * errors a of inherited and b of incoming it is off by less than (a + gain b) / (incoming - b)
 * (C42). */
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
    settle_cell(errors, &errors->propagation[i], gain, error, false);
    mpfr_clears(gain, error, least, (mpfr_ptr)0);
}

static void settle_split(RefErrors *errors, RefPropagationCell first, const Split *split)
{
    settle(errors, first, &split->injected);
    settle(errors, first + 1, &split->inherited);
    settle_gain(errors, first + 2, split);
}

/* m(T') as it is before the next layer. */
static void keep_machine(RefPropagation *propagation, const MachineView *converted)
{
    const Layout *layout = &propagation->pair->converted.layout;
    size_t content = layout_content(layout);
    propagation->nonfinite = false;
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < content; c++) {
            double entry = converted->data[i * converted->ld + c];
            propagation->machine[i * content + c] = entry;
            propagation->nonfinite = propagation->nonfinite || !isfinite(entry);
        }
    }
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
