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

/* A block of r(T'), of whose entries `proven` holds. */
typedef struct {
    RefBlock block;
    int proven;
} Leak;

/* The cell of its largest entry; zero: what an entry that is proven to be 0 may be off by. */
static void settle_leak(Comparison *comparison, RefScalar scalar, const Leak *leak,
                        mpfr_srcptr zero)
{
    const RefRun *run = comparison->at->run;
    RefErrors *errors = comparison->errors;
    RefCell *cell = &errors->scalar[scalar];
    const RefBlock *block = &leak->block;
    mpfr_t max, error;
    mpfr_inits2(REF_CELL_BITS, max, error, (mpfr_ptr)0);
    norms_block_max(max, run_outcome(run), block->first, block->count, block->columns);
    ref_run_radius(run, RADIUS_SUM, *block, (RefRadii){error, NULL});
    comparison_limit(error);
    if ((leak->proven & PROVEN_ZERO) != 0) {
        errors->contradiction |= !cell_zero(cell, max, zero);
    } else {
        if ((leak->proven & PROVEN_GIVEN) != 0) {
            mpfr_set_zero(error, 1);
        }
        cell_settle(cell, max, error);
        bool hidden = run->e == NULL && cell->lacking == 0;
        double *most = hidden ? &errors->hidden : &errors->lacking;
        *most = fmax(*most, cell_lacks(cell, max, error));
    }
    mpfr_clears(max, error, (mpfr_ptr)0);
}

/* The largest entries of the bias row, and of the columns that the layer clears, into the errors'
 * scalars.  zero: as settle_leak has it. */
static void leaks_compare(Comparison *comparison, mpfr_srcptr zero)
{
    const RefLayer *at = comparison->at;
    const RefProof *proof = at->base->proof;
    const Layout *layout = &at->pair->converted.layout;
    Columns cleared = at->pair->cleared[at->layer - 1], content = {0, layout_content(layout)};
    if (layout->bias_row != BIAS_ROW_NONE) {
        const Leak bias = {{layout_bias_row(layout), 1, content}, proof_bias_row(proof, at->layer)};
        settle_leak(comparison, SCALAR_BIAS_ROW, &bias, zero);
    }
    if (cleared.count > 0) {
        const Leak hidden = {{layout_token_row(layout, 0), layout->n, cleared},
                             proof_cleared(proof, at->layer)};
        settle_leak(comparison, SCALAR_HIDDEN, &hidden, zero);
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

/* e as it is carried, or as a difference.  same: it is proven to be 0. */
static void ask_construction(Comparison *comparison, Streams *streams, bool same)
{
    const RefRun *run = comparison->at->run;
    Stream *error = &streams->e;
    Question question = {.kind = ERROR_CONSTRUCTION,
                         .a = streams->converted.side,
                         .off = error,
                         .proven_zero = same};
    if (run->e == NULL) {
        stream_add_errors(error, &streams->limit, &streams->converted);
        question.b = streams->limit.side;
    } else {
        question.a.mat = &run->e->stream;
        stream_radius(error, comparison, RADIUS_DIFFERENCE, NULL);
        if (same) {
            mpfr_set_zero(error->error, 1);
            mpfr_set_zero(error->root, 1);
        }
    }
    comparison_ask(comparison, question);
}

/* A machine's stream less another. */
static void ask_about(Comparison *comparison, ErrorKind kind, Side machine, const Stream *other)
{
    comparison_ask(comparison,
                   (Question){.kind = kind, .a = machine, .b = other->side, .off = other});
}

/* The four errors that a machine's streams are part of; either stream may be NULL. */
static void ask_machine(Comparison *comparison, const Streams *streams)
{
    const MachineView *converted = comparison->at->converted, *original = comparison->at->original;
    const size_t column = comparison->columns.first;
    Side m_t = {NULL, original, 0, column}, m_prime = {NULL, converted, 0, column};
    if (converted != NULL && streams->converted.there) {
        ask_about(comparison, ERROR_ROUNDING, m_prime, &streams->converted);
    }
    if (original != NULL) {
        ask_about(comparison, ERROR_NATIVE, m_t, &streams->original);
    }
    if (converted != NULL) {
        ask_about(comparison, ERROR_TOTAL, m_prime, &streams->original);
    }
    if (converted != NULL && original != NULL) {
        comparison_ask(comparison, (Question){.kind = ERROR_OBSERVED, .a = m_prime, .b = m_t});
    }
}

/* Of r(T_infinity), where it is there: how far it is from r(T). */
static void ask_approximation(Comparison *comparison, Streams *streams, bool given)
{
    Stream *both = &streams->both;
    bool zero = given && mpfr_zero_p(streams->original.error);
    if (streams->limit.there) {
        stream_add_errors(both, &streams->limit, &streams->original);
        comparison_ask(comparison,
                       (Question){.kind = ERROR_APPROXIMATION,
                                  .a = streams->limit.side,
                                  .b = streams->original.side,
                                  .off = both,
                                  .proven_zero = comparison->at->pair->limit_is_original || zero});
    }
}

void ref_compare_rows(RefErrors *errors, const RefLayer *at, RefRows rows)
{
    mpfr_t norm;
    const RefBase *base = at->base;
    const RefRun *run = at->run;
    Streams streams = {0};
    Stream *const all[] = {&streams.original, &streams.limit, &streams.converted, &streams.e,
                           &streams.both};
    int proven = proof_compared(base->proof, at->layer, rows);
    mpfr_prec_t bits = run != NULL && run->ev.bits > base->bits ? run->ev.bits : base->bits;
    Comparison comparison = {.errors = errors,
                             .at = at,
                             .rows = rows,
                             .columns = at->pair->compared[at->layer - 1],
                             .bits = bits + 64,
                             .norm_original = norm,
                             .norm_off = streams.original.root};
    errors_reset(errors);
    mpfr_init2(norm, REF_CELL_BITS);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mpfr_inits2(REF_CELL_BITS, all[i]->error, all[i]->root, (mpfr_ptr)0);
    }
    original_size(errors, norm, &base->original[at->layer - 1], rows);
    errors->left_range = mpfr_nan_p(errors->max_original) || (run != NULL && run->left_range);
    streams_set(&streams, &comparison, proven);
    ask_approximation(&comparison, &streams, (proven & PROVEN_GIVEN) != 0);
    if (run != NULL) {
        ask_construction(&comparison, &streams, (proven & PROVEN_SAME) != 0);
        leaks_compare(&comparison, streams.converted.error);
    }
    ask_machine(&comparison, &streams);
    comparison_answer(&comparison);
    compare_score(errors, base, at->layer);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mpfr_clears(all[i]->error, all[i]->root, (mpfr_ptr)0);
    }
    mpfr_clear(norm);
}

void ref_compare(RefErrors *errors, const RefLayer *at)
{
    ref_compare_rows(errors, at, (RefRows){0, at->pair->original.layout.n});
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

void ref_compare_machines(RefErrors *errors, const RefLayer *at, RefRows rows)
{
    mpfr_t zero; /* r(T)'s norm, so that there is no relative error */
    mpfr_init2(zero, REF_CELL_BITS);
    mpfr_set_zero(zero, 1);
    Comparison comparison = {.errors = errors,
                             .at = at,
                             .rows = rows,
                             .columns = at->pair->compared[at->layer - 1],
                             .bits = REF_CELL_BITS + 64,
                             .norm_original = zero};
    double largest = machine_largest(at->original, rows, comparison.columns);
    const size_t first = comparison.columns.first;
    errors_reset(errors);
    mpfr_set_d(errors->max_original, largest, MPFR_RNDN);
    comparison_ask(&comparison, (Question){.kind = ERROR_OBSERVED,
                                           .a = {NULL, at->converted, 0, first},
                                           .b = {NULL, at->original, 0, first}});
    comparison_answer(&comparison);
    mpfr_clear(zero);
}
