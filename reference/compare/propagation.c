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
#include "error_norms.h"

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

/* Rows and columns of streams. */
typedef struct {
    const RefRun *run; /* which has such */
    RefRows rows;
    Columns columns;
} Area;

static const Side nothing = {0};

static Side side_of(const Area *area, const ApMat *mat)
{
    return (Side){mat, NULL, layout_token_row(&area->run->model->layout, 0), area->columns.first};
}

/* Takes in a - b - c. */
static void size_measure(Size *size, const Area *area, Side a, Side b, Side c)
{
    Norms row;
    norms_init(&row, area->run->ev.bits + 64);
    for (size_t i = area->rows.first; i < area->rows.first + area->rows.count; i++) {
        for (size_t k = 0; k < area->columns.count; k += NORMS_COLUMNS) {
            size_t left = area->columns.count - k;
            const RowPart part = {i, k, left < NORMS_COLUMNS ? left : NORMS_COLUMNS};
            side_take(row.d, &a, &part);
            side_subtract(row.d, &b, &part);
            side_subtract(row.d, &c, &part);
            for (size_t e = 0; e < part.count; e++) {
                size_add(size, row.d + e);
            }
        }
    }
    norms_clear(&row);
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

/* The errors that come in, of what is handed on: all but the columns that were cleared. */
static void measure_incoming(RefPropagation *propagation, RefRows rows)
{
    const RefRun *run = propagation->run;
    size_t l = run->next.layer, content = run->e->stream.columns;
    Size *e = &propagation->construction.incoming, *m = &propagation->rounding.incoming;
    size_begin(e, same_before(propagation));
    size_begin(m, l == 0);
    if (l == 0) {
        return;
    }
    const MachineView machine = {propagation->machine, content};
    const Columns cleared = propagation->pair->cleared[l - 1];
    const size_t end = cleared.first + cleared.count;
    const Columns kept[] = {{0, cleared.first}, {end, content - end}};
    for (size_t k = 0; k < 2; k++) {
        const Area area = {run, rows, kept[k]};
        size_measure(e, &area, side_of(&area, &run->e->stream), nothing, nothing);
        if (propagation->machine != NULL) {
            size_measure(m, &area, (Side){NULL, &machine, 0, kept[k].first},
                         side_of(&area, &run->e->sum), nothing);
        }
    }
    Columns columns = columns_handed_on(cleared, content);
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

/* The largest errors of the parts. */
static void construction_errors(RefPropagation *propagation, const Area *area)
{
    Split *split = &propagation->construction;
    radius_of(split->inherited.error, area->run, RADIUS_INHERITED, area->rows, area->columns);
    if (!split->injected.zero) {
        radius_of(split->injected.error, area->run, RADIUS_DIFFERENCE, area->rows, area->columns);
    }
    if (!split->inherited.zero) {
        mpfr_add(split->injected.error, split->injected.error, split->inherited.error, MPFR_RNDU);
    }
}

/* Is F(x^) - F(x) what is inherited, but for errors of these three? */
static bool identity_fails(const RefPropagation *propagation, const Area *area)
{
    const RefRun *run = area->run, *moved = propagation->limit;
    Size off, allowed;
    mpfr_inits2(REF_CELL_BITS, off.max, off.error, allowed.max, allowed.error, (mpfr_ptr)0);
    size_begin(&off, false);
    size_measure(&off, area, side_of(area, &moved->stream), side_of(area, &run->stream),
                 side_of(area, &run->inherited->stream));
    radius_of(allowed.max, run, RADIUS_SUM, area->rows, area->columns);
    radius_of(allowed.error, moved, RADIUS_STREAM, area->rows, area->columns);
    mpfr_add(allowed.max, allowed.max, allowed.error, MPFR_RNDU);
    mpfr_add(allowed.max, allowed.max, propagation->construction.injected.error, MPFR_RNDU);
    bool fails = mpfr_number_p(off.max) && mpfr_greater_p(off.max, allowed.max);
    mpfr_clears(off.max, off.error, allowed.max, allowed.error, (mpfr_ptr)0);
    return fails;
}

static void split_construction(RefErrors *errors, RefPropagation *propagation, const Area *area)
{
    const RefRun *run = area->run;
    Split *split = &propagation->construction;
    bool zero = split->incoming.zero;
    int proven = proof_compared(propagation->base->proof, run->next.layer, area->rows);
    Side e = side_of(area, &run->e->stream), part = side_of(area, &run->inherited->stream);
    size_begin(&split->inherited, zero);
    size_begin(&split->injected, zero && (proven & PROVEN_SAME) != 0);
    construction_errors(propagation, area);
    size_measure(&split->inherited, area, part, nothing, nothing);
    size_measure(&split->injected, area, e, part, nothing);
    errors->contradiction |= identity_fails(propagation, area);
    add_rounding(&split->injected);
}

/* m(T') - F(x^), and F(x^) - r(T'). */
static void split_rounding(RefPropagation *propagation, const Area *area,
                           const MachineView *converted)
{
    Split *split = &propagation->rounding;
    Side machine = {NULL, converted, 0, area->columns.first},
         exact = side_of(area, &propagation->exact->stream);
    size_begin(&split->inherited, split->incoming.zero);
    size_begin(&split->injected, false);
    radius_of(split->injected.error, propagation->exact, RADIUS_STREAM, area->rows, area->columns);
    radius_of(split->inherited.error, area->run, RADIUS_SUM, area->rows, area->columns);
    mpfr_add(split->inherited.error, split->inherited.error, split->injected.error, MPFR_RNDU);
    size_measure(&split->inherited, area, exact, side_of(area, &area->run->e->sum), nothing);
    size_measure(&split->injected, area, machine, exact, nothing);
    add_rounding(&split->inherited);
    add_rounding(&split->injected);
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
    const RefRun *run = propagation->run;
    const Area area = {run, rows, propagation->pair->compared[run->next.layer - 1]};
    split_construction(errors, propagation, &area);
    settle_split(errors, PROPAGATION_CONSTRUCTION_INJECTED, &propagation->construction);
    if (converted != NULL) {
        split_rounding(propagation, &area, converted);
        settle_split(errors, PROPAGATION_ROUNDING_INJECTED, &propagation->rounding);
        keep_machine(propagation, converted);
    }
}
