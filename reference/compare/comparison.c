/*
 * Differences of two sides in three norms, each with what it may be off by; and the streams whose
 * differences are the errors.
 */
#include "comparison.h"

#include "cell.h"
#include "error_norms.h"

#include <math.h>

void comparison_limit(mpfr_ptr error)
{
    if (!mpfr_number_p(error)) {
        mpfr_set_ui_2exp(error, 1, (mpfr_exp_t)0x1p40, MPFR_RNDU);
    }
}

mpfr_srcptr comparison_entry(const Side *side, Columns columns, size_t i, size_t c)
{
    if (side->mat != NULL) {
        return ap_at(side->mat, i, c);
    }
    const RefRun *run = side->run != NULL          ? side->run
                        : side->difference != NULL ? side->difference
                                                   : side->limit;
    size_t row = layout_token_row(&run->model->layout, i), column = columns.first + c;
    return run == side->run          ? ref_run_entry(run, row, column)
           : run == side->difference ? ref_run_difference(run, row, column)
                                     : ap_at(&run->stream, row, column);
}

/* A machine's entries of a row, from the first-th of the columns compared on. */
static const double *machine_entries(const Side *side, Columns columns, size_t i, size_t first)
{
    return side->machine->data + i * side->machine->ld + columns.first + first;
}

/* d [count] = a side's entries of a row, from the first-th of the columns compared on. */
static void side_take(mpfr_ptr d, const Side *side, Columns columns, size_t i, size_t first,
                      size_t count)
{
    if (side->machine == NULL) {
        lanes_set(d, comparison_entry(side, columns, i, first), count);
        return;
    }
    for (size_t c = 0; c < count; c++) {
        limbs_set_d(d + c, machine_entries(side, columns, i, first)[c]);
    }
}

/* d -= those. */
static void side_subtract(mpfr_ptr d, const Side *side, Columns columns, size_t i, size_t first,
                          size_t count)
{
    double below[NORMS_COLUMNS];
    if (side->nothing) {
        return;
    }
    if (side->machine == NULL) {
        mpfr_srcptr entry = comparison_entry(side, columns, i, first);
        lanes_sub(d, numbers_row(d), numbers_row(entry), count);
        return;
    }
    for (size_t c = 0; c < count; c++) {
        below[c] = -machine_entries(side, columns, i, first)[c];
    }
    lanes_add_doubles(d, below, count);
}

/* Takes in the difference of two sides, row by row. */
static void add_differences(Norms *norms, const Comparison *comparison, const Question *question)
{
    const Columns columns = comparison->columns;
    const RefRows rows = comparison->rows;
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < columns.count; c += NORMS_COLUMNS) {
            size_t left = columns.count - c, some = left < NORMS_COLUMNS ? left : NORMS_COLUMNS;
            side_take(norms->d, &question->a, columns, i, c, some);
            side_subtract(norms->d, &question->b, columns, i, c, some);
            norms_add(norms, some);
        }
    }
}

/* error = what a norm of a - b may be off by, of `count` entries (C33). */
static void norm_error(mpfr_ptr error, const Comparison *comparison, const Off *off, Norm norm,
                       unsigned long count, mpfr_srcptr value)
{
    mpfr_t t, low;
    mpfr_inits2(REF_CELL_BITS, t, low, (mpfr_ptr)0);
    mpfr_set(error, norm == NORM_MAX ? off->entry : off->root, MPFR_RNDU);
    if (norm == NORM_RMS) {
        mpfr_sqrt_ui(t, count, MPFR_RNDD);
        mpfr_div(error, error, t, MPFR_RNDU);
    } else if (norm == NORM_REL) { /* (root + value off) / (norm - off) */
        mpfr_mul(t, value, comparison->norm_off, MPFR_RNDU);
        mpfr_add(error, error, t, MPFR_RNDU);
        mpfr_sub(low, comparison->norm_original, comparison->norm_off, MPFR_RNDD);
        mpfr_div(error, error, low, MPFR_RNDU);
        if (!(mpfr_sgn(low) > 0)) {
            mpfr_set_inf(error, 1);
        }
    }
    if (norm != NORM_MAX || !mpfr_zero_p(error)) {
        mpfr_mul_2si(t, value, -COMPARED_BITS, MPFR_RNDU);
        mpfr_add(error, error, t, MPFR_RNDU);
    }
    comparison_limit(error);
    mpfr_clears(t, low, (mpfr_ptr)0);
}

/* A norm of the entries summed, and error = what it may be off by, where an entry is off by `off`;
 * false: it is a relative error, of a zero, which there is not. */
static bool measure(mpfr_ptr value, mpfr_ptr error, const Comparison *comparison, Norms *norms,
                    Norm norm, const Off *off)
{
    unsigned long count = (unsigned long)(comparison->rows.count * comparison->columns.count);
    if (norm == NORM_MAX) {
        mpfr_set(value, norms->max, MPFR_RNDN);
    } else if (norm == NORM_RMS) {
        norms_root(value, norms, count);
    } else {
        if (mpfr_zero_p(comparison->norm_original)) {
            return false;
        }
        norms_root(value, norms, 1);
        mpfr_div(value, value, comparison->norm_original, MPFR_RNDN);
    }
    mpfr_set_zero(error, 1);
    if (off->root != NULL) {
        norm_error(error, comparison, off, norm, count, value);
    }
    return true;
}

/* The norms of a - b, known to +-error per entry, into errors->error[kind].  Returns whether a zero
 * that is proven was measured larger than its error. */
static bool compare_sides(const Comparison *comparison, Question *question)
{
    RefCell *cells = comparison->errors->error[question->kind];
    bool contradiction = false;
    Norms norms;
    norms_init(&norms, comparison->bits);
    add_differences(&norms, comparison, question);
    mpfr_t value, error;
    mpfr_inits2(REF_CELL_BITS, value, error, (mpfr_ptr)0);
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        if (!measure(value, error, comparison, &norms, (Norm)norm, &question->off)) {
            continue;
        }
        if (question->proven_zero) {
            contradiction |= !cell_zero(&cells[norm], value, error);
        } else {
            cell_settle(&cells[norm], value, error);
        }
        if (question->off.root != NULL) {
            double lacks = cell_lacks(&cells[norm], value, error);
            /* What two evaluations are apart may as well be nothing; a carried difference not. */
            bool noise = cells[norm].lacking == 0 && question->a.difference == NULL;
            if (!noise) {
                question->lacking = fmax(question->lacking, lacks);
            } else if (question->kind == ERROR_CONSTRUCTION) {
                question->hidden = fmax(question->hidden, lacks);
            }
        }
    }
    mpfr_clears(value, error, (mpfr_ptr)0);
    norms_clear(&norms);
    return contradiction;
}

void comparison_ask(Comparison *comparison, ErrorKind kind, Side a, Side b, Off off,
                    bool proven_zero)
{
    comparison->question[comparison->count++] = (Question){kind, a, b, off, proven_zero, 0, 0};
}

/* Entries that are worth a parallel region. */
enum { PARALLEL_ENTRIES = 1 << 14 };

void comparison_answer(Comparison *comparison)
{
    size_t entries = comparison->rows.count * comparison->columns.count;
    bool contradiction = false;
#pragma omp parallel for schedule(dynamic) if (entries >= PARALLEL_ENTRIES)                        \
    reduction(||                                                                                   \
              : contradiction)
    for (size_t q = 0; q < comparison->count; q++) {
        ref_thread_setup();
        contradiction = compare_sides(comparison, &comparison->question[q]) || contradiction;
    }
    comparison->errors->contradiction |= contradiction;
    for (size_t q = 0; q < comparison->count; q++) {
        const Question *question = &comparison->question[q];
        comparison->errors->lacking = fmax(comparison->errors->lacking, question->lacking);
        comparison->errors->hidden = fmax(comparison->errors->hidden, question->hidden);
    }
}

/* ---- Streams --------------------------------------------------------------------------------- */

Off stream_off(const Stream *stream)
{
    return (Off){stream->error, stream->root};
}

void stream_radius(Stream *stream, const Comparison *comparison, const Known *known)
{
    const Side *side = &stream->side;
    const Layout *layout = &known->pair->converted.layout;
    RefRows rows = comparison->rows;
    mpfr_t square;
    mpfr_init2(square, REF_CELL_BITS);
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; side->radius != NULL && i < rows.first + rows.count; i++) {
        mpfr_max(stream->error, stream->error, ap_at(side->radius, i, 0), MPFR_RNDU);
        mpfr_sqr(square, ap_at(side->radius, i, 0), MPFR_RNDU);
        mpfr_add(stream->root, stream->root, square, MPFR_RNDU);
    }
    if (side->radius == NULL) {
        RadiusOf of = side->difference != NULL ? RADIUS_DIFFERENCE
                      : side->limit != NULL    ? RADIUS_STREAM
                                               : RADIUS_SUM;
        ref_run_radius(known->run, of, layout_token_row(layout, rows.first), rows.count,
                       comparison->columns, stream->error, stream->root);
    }
    mpfr_sqrt(stream->root, stream->root, MPFR_RNDU);
    /* squares may leave MPFR's exponents where their roots do not */
    mpfr_sqrt_ui(square, rows.count, MPFR_RNDU);
    mpfr_mul(square, square, stream->error, MPFR_RNDU);
    mpfr_min(stream->root, stream->root, square, MPFR_RNDU);
    mpfr_clear(square);
}

/* given: the rows compared are proven to be what the stream began with, x [n, ld]; that is looked
 * at. */
static void stream_set(Stream *stream, const Comparison *comparison, const Known *known, Side side,
                       bool given, const double *x, size_t ld)
{
    Columns columns = comparison->columns;
    RefRows rows = comparison->rows;
    stream->there = true;
    stream->side = side;
    stream_radius(stream, comparison, known);
    if (!given) {
        return;
    }
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            double entry = x[i * ld + columns.first + c];
            if (mpfr_cmp_d(comparison_entry(&side, columns, i, c), entry) != 0) {
                comparison->errors->contradiction = true;
            }
        }
    }
}

void streams_set(Streams *streams, const Comparison *comparison, const Known *known,
                 const RefBase *base, int proven)
{
    const Pair *pair = known->pair;
    const RefRun *run = known->run;
    size_t l = known->layer - 1, d = layout_content(&pair->original.layout);
    size_t wider = layout_content(&pair->converted.layout);
    bool given = (proven & PROVEN_GIVEN) != 0;
    bool original_given = proof_original_given(base->proof, known->layer, comparison->rows);
    Side original = {.mat = &base->original[l], .radius = &base->radius[l]};
    stream_set(&streams->original, comparison, known, original, original_given, pair->original_x,
               d);
    if (run != NULL) {
        stream_set(&streams->converted, comparison, known, (Side){.run = run}, given,
                   pair->converted_x, wider);
    }
    if (run != NULL && run->e != NULL) {
        stream_set(&streams->limit, comparison, known, (Side){.limit = run}, given,
                   pair->converted_x, wider);
    } else if (base->limit != NULL) {
        Side limit = {.mat = &base->limit[l], .radius = &base->limit_radius[l]};
        stream_set(&streams->limit, comparison, known, limit, given, pair->converted_x, wider);
    }
}

void stream_add_errors(Stream *sum, const Stream *a, const Stream *b)
{
    mpfr_add(sum->error, a->error, b->error, MPFR_RNDU);
    mpfr_add(sum->root, a->root, b->root, MPFR_RNDU);
}
