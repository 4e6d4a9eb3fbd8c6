/*
 * The six errors after a layer (docs/mathematics.md, section 2), each with what the precision
 * may have lost.
 */
#include "cell.h"
#include "comparison.h"
#include "error_norms.h"

#include "../trajectory/base.h"

#include <math.h>

/* ---- Leaks ----------------------------------------------------------------------------------- */

/* The position columns less what they began with, where the run stores them; else no head can
 * write them. */
static void compare_onehot(RefErrors *errors, const RefRun *run)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    mpfr_t max, t;
    mpfr_inits2(REF_CELL_BITS, max, t, (mpfr_ptr)0);
    mpfr_set_zero(max, 1);
    for (size_t i = 0; i < run->stream.rows; i++) {
        for (size_t c = content; c < run->stream.columns; c++) {
            bool one = layout->bias_row == BIAS_ROW_MASKED ? i != bias : c - content == i;
            mpfr_sub_ui(t, ref_run_entry(run, i, c), one, MPFR_RNDA);
            if (mpfr_nan_p(t) || mpfr_cmpabs(t, max) > 0) {
                mpfr_abs(max, t, MPFR_RNDA);
            }
        }
    }
    mpfr_set_zero(t, 1);
    cell_settle(&errors->scalar[SCALAR_ONEHOT], max, t);
    mpfr_clears(max, t, (mpfr_ptr)0);
}

/* Rows first, ..., first + count - 1 of T' in some columns, of which `proven` holds. */
typedef struct {
    size_t first, count;
    Columns columns;
    int proven;
} Block;

/* The cell of the largest entry of a block of r(T'). */
static void settle_leak(RefErrors *errors, RefScalar scalar, const Known *known, const Block *block)
{
    const RefRun *run = known->run;
    RefCell *cell = &errors->scalar[scalar];
    mpfr_t max, error, squares;
    mpfr_inits2(REF_CELL_BITS, max, error, squares, (mpfr_ptr)0);
    norms_block_max(max, run_outcome(run), block->first, block->count, block->columns);
    ref_run_radius(run, RADIUS_SUM, block->first, block->count, block->columns, error, squares);
    comparison_limit(error);
    if ((block->proven & PROVEN_ZERO) != 0) {
        errors->contradiction |= !cell_zero(cell, max, known->error);
    } else {
        if ((block->proven & PROVEN_GIVEN) != 0) {
            mpfr_set_zero(error, 1);
        }
        cell_settle(cell, max, error);
        bool hidden = run->e == NULL && cell->lacking == 0;
        double *most = hidden ? &errors->hidden : &errors->lacking;
        *most = fmax(*most, cell_lacks(cell, max, error));
    }
    mpfr_clears(max, error, squares, (mpfr_ptr)0);
}

/* The largest entries of the bias row, of the columns that the layer clears, and of the block that
 * tells rows apart, into the errors' scalars. */
static void leaks_compare(RefErrors *errors, const Known *known)
{
    const Layout *layout = &known->pair->converted.layout;
    const size_t layer = known->layer;
    Columns cleared = known->pair->cleared[layer - 1], content = {0, layout_content(layout)};
    if (layout->bias_row != BIAS_ROW_NONE) {
        const Block bias = {layout_bias_row(layout), 1, content,
                            proof_bias_row(known->proof, layer)};
        settle_leak(errors, SCALAR_BIAS_ROW, known, &bias);
        compare_onehot(errors, known->run);
    }
    if (cleared.count > 0) {
        const Block hidden = {layout_token_row(layout, 0), layout->n, cleared,
                              proof_cleared(known->proof, layer)};
        settle_leak(errors, SCALAR_HIDDEN, known, &hidden);
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Norm and largest entry of some rows of r(T). */
static void original_size(RefErrors *errors, mpfr_ptr norm, const ApMat *original, RefRows rows)
{
    Norms norms;
    norms_init(&norms, original->bits);
    size_t entries = rows.count * original->columns;
    for (size_t i = 0; i < entries; i += NORMS_COLUMNS) {
        size_t some = entries - i < NORMS_COLUMNS ? entries - i : NORMS_COLUMNS;
        lanes_set(norms.d, ap_at(original, rows.first, 0) + i, some);
        norms_add(&norms, some);
    }
    norms_root(norm, &norms, 1);
    mpfr_set(errors->max_original, norms.max, MPFR_RNDN);
    norms_clear(&norms);
}

/* r(T)'s scores, with their radius. */
static void compare_score(RefErrors *errors, const RefBase *base, size_t layer)
{
    mpfr_srcptr score = ap_at(&base->score_max, 0, layer - 1);
    RefCell *cell = &errors->scalar[SCALAR_SCORE];
    mpfr_t error;
    if (!base->has_scores) {
        return;
    }
    mpfr_init2(error, REF_CELL_BITS);
    mpfr_mul_2si(error, score, -COMPARED_BITS, MPFR_RNDU);
    mpfr_add(error, error, ap_at(&base->score_off, 0, layer - 1), MPFR_RNDU);
    comparison_limit(error);
    cell_settle(cell, score, error);
    errors->lacking = fmax(errors->lacking, cell_lacks(cell, score, error));
    mpfr_clear(error);
}

/* e as it is carried, or as a difference.  error: for its error; same: it is proven to be 0. */
static void ask_construction(Comparison *comparison, const Known *known, const Streams *streams,
                             Stream *error, bool same)
{
    Side e = {.difference = known->run}, nothing = {.nothing = true};
    if (known->run->e == NULL) {
        stream_add_errors(error, &streams->limit, &streams->converted);
        comparison_ask(comparison, ERROR_CONSTRUCTION, streams->converted.side, streams->limit.side,
                       stream_off(error), same);
        return;
    }
    error->side = e;
    stream_radius(error, comparison, known);
    if (same) {
        mpfr_set_zero(error->error, 1);
        mpfr_set_zero(error->root, 1);
    }
    comparison_ask(comparison, ERROR_CONSTRUCTION, e, nothing, stream_off(error), same);
}

/* What the machine's streams say, either of which may be NULL. */
static void ask_machine(Comparison *comparison, const Streams *streams,
                        const MachineView *converted, const MachineView *original)
{
    Side m_t = {.machine = original}, m_prime = {.machine = converted};
    const Stream *t = &streams->original, *prime = &streams->converted;
    if (converted != NULL && prime->there) {
        comparison_ask(comparison, ERROR_ROUNDING, m_prime, prime->side, stream_off(prime), false);
    }
    if (original != NULL) {
        comparison_ask(comparison, ERROR_NATIVE, m_t, t->side, stream_off(t), false);
    }
    if (converted != NULL) {
        comparison_ask(comparison, ERROR_TOTAL, m_prime, t->side, stream_off(t), false);
    }
    if (converted != NULL && original != NULL) {
        comparison_ask(comparison, ERROR_OBSERVED, m_prime, m_t, (Off){NULL, NULL}, false);
    }
}

void ref_compare_rows(RefErrors *errors, const Pair *pair, const RefBase *base, size_t layer,
                      RefRows rows, const RefRun *run, const MachineView *converted,
                      const MachineView *original)
{
    mpfr_t norm;
    Streams streams = {0};
    Stream *const all[] = {&streams.original, &streams.limit, &streams.converted, &streams.e,
                           &streams.both};
    int proven = proof_compared(base->proof, layer, rows);
    mpfr_prec_t bits = run != NULL && run->ev.bits > base->bits ? run->ev.bits : base->bits;
    Comparison comparison = {.errors = errors,
                             .rows = rows,
                             .columns = pair->compared[layer - 1],
                             .bits = bits + 64,
                             .norm_original = norm,
                             .norm_off = streams.original.root};
    const Known known = {pair, base->proof, run, layer, streams.converted.error};
    errors_reset(errors);
    mpfr_init2(norm, REF_CELL_BITS);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mpfr_inits2(REF_CELL_BITS, all[i]->error, all[i]->root, (mpfr_ptr)0);
    }
    original_size(errors, norm, &base->original[layer - 1], rows);
    errors->left_range = mpfr_nan_p(errors->max_original) || (run != NULL && run->left_range);
    errors->contradiction = base->astray || (run != NULL && run->astray);
    streams_set(&streams, &comparison, &known, base, proven);
    if (streams.limit.there) {
        bool zero = (proven & PROVEN_GIVEN) != 0 && mpfr_zero_p(streams.original.error);
        stream_add_errors(&streams.both, &streams.limit, &streams.original);
        comparison_ask(&comparison, ERROR_APPROXIMATION, streams.limit.side, streams.original.side,
                       stream_off(&streams.both), pair->limit_is_original || zero);
    }
    if (run != NULL) {
        ask_construction(&comparison, &known, &streams, &streams.e, (proven & PROVEN_SAME) != 0);
        leaks_compare(errors, &known);
    }
    ask_machine(&comparison, &streams, converted, original);
    comparison_answer(&comparison);
    compare_score(errors, base, layer);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mpfr_clears(all[i]->error, all[i]->root, (mpfr_ptr)0);
    }
    mpfr_clear(norm);
}

void ref_compare(RefErrors *errors, const Pair *pair, const RefBase *base, size_t layer,
                 const RefRun *run, const MachineView *converted, const MachineView *original)
{
    RefRows all = {0, pair->original.layout.n};
    ref_compare_rows(errors, pair, base, layer, all, run, converted, original);
}

/* The largest |entry| of some rows and columns of m(T); NaN if one is. */
static double machine_largest(const MachineView *original, RefRows rows, Columns columns)
{
    double most = 0;
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            double size = fabs(original->data[i * original->ld + c]);
            most = size <= most || isnan(most) ? most : size;
        }
    }
    return most;
}

void ref_compare_machines(RefErrors *errors, const Pair *pair, size_t layer, RefRows rows,
                          const MachineView *converted, const MachineView *original)
{
    Columns columns = pair->compared[layer - 1];
    Side m_t = {.machine = original}, m_prime = {.machine = converted};
    mpfr_t zero; /* r(T)'s norm, so that there is no relative error */
    mpfr_init2(zero, REF_CELL_BITS);
    mpfr_set_zero(zero, 1);
    Comparison comparison = {errors, rows, columns, REF_CELL_BITS + 64, zero, NULL, {{0}}, 0};
    errors_reset(errors);
    mpfr_set_d(errors->max_original, machine_largest(original, rows, columns), MPFR_RNDN);
    comparison_ask(&comparison, ERROR_OBSERVED, m_prime, m_t, (Off){NULL, NULL}, false);
    comparison_answer(&comparison);
    mpfr_clear(zero);
}
