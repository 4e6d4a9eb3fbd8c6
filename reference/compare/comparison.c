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
        mpfr_set_ui_2exp(error, 1, CELL_UNKNOWN, MPFR_RNDU);
    }
}

static mpfr_srcptr entry_of(const Side *side, const RowPart *part)
{
    return ap_at(side->mat, side->row + part->i, side->column + part->first);
}

static const double *machine_entries(const Side *side, const RowPart *part)
{
    return side->machine->data + part->i * side->machine->ld + side->column + part->first;
}

void side_take(mpfr_ptr d, const Side *side, const RowPart *part)
{
    if (side->mat != NULL) {
        lanes_set(d, entry_of(side, part), part->count);
        return;
    }
    for (size_t c = 0; c < part->count; c++) {
        limbs_set_d(d + c, machine_entries(side, part)[c]);
    }
}

void side_subtract(mpfr_ptr d, const Side *side, const RowPart *part)
{
    double below[NORMS_COLUMNS];
    if (side->mat != NULL) {
        lanes_sub(d, numbers_row(d), numbers_row(entry_of(side, part)), part->count);
    } else if (side->machine != NULL) {
        for (size_t c = 0; c < part->count; c++) {
            below[c] = -machine_entries(side, part)[c];
        }
        lanes_add_doubles(d, below, part->count);
    }
}

/* Takes in the difference of two sides, row by row. */
static void add_differences(Norms *norms, const Comparison *comparison, const Question *question)
{
    const size_t columns = comparison->columns.count;
    const RefRows rows = comparison->rows;
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < columns; c += NORMS_COLUMNS) {
            size_t left = columns - c, some = left < NORMS_COLUMNS ? left : NORMS_COLUMNS;
            const RowPart part = {i, c, some};
            side_take(norms->d, &question->a, &part);
            side_subtract(norms->d, &question->b, &part);
            norms_add(norms, some);
        }
    }
}

/* A norm of a - b, and what it may be off by. */
typedef struct {
    mpfr_t value, error;
} Measured;

/* The error, where entries are off by `off` (C33). */
static void norm_error(Measured *size, const Comparison *comparison, Norm norm, const Stream *off)
{
    unsigned long count = (unsigned long)(comparison->rows.count * comparison->columns.count);
    mpfr_ptr error = size->error;
    mpfr_t t, low;
    mpfr_inits2(REF_CELL_BITS, t, low, (mpfr_ptr)0);
    mpfr_set(error, norm == NORM_MAX ? off->error : off->root, MPFR_RNDU);
    if (norm == NORM_RMS) {
        mpfr_sqrt_ui(t, count, MPFR_RNDD);
        mpfr_div(error, error, t, MPFR_RNDU);
    } else if (norm == NORM_REL) { /* (root + value off) / (norm - off) */
        mpfr_mul(t, size->value, comparison->norm_off, MPFR_RNDU);
        mpfr_add(error, error, t, MPFR_RNDU);
        mpfr_sub(low, comparison->norm_original, comparison->norm_off, MPFR_RNDD);
        mpfr_div(error, error, low, MPFR_RNDU);
        if (!(mpfr_sgn(low) > 0)) {
            mpfr_set_inf(error, 1);
        }
    }
    if (norm != NORM_MAX || !mpfr_zero_p(error)) {
        mpfr_mul_2si(t, size->value, -COMPARED_BITS, MPFR_RNDU);
        mpfr_add(error, error, t, MPFR_RNDU);
    }
    comparison_limit(error);
    mpfr_clears(t, low, (mpfr_ptr)0);
}

/* Of the entries summed; false: it is a relative error, of a zero, which there is not. */
static bool measure(mpfr_ptr value, const Comparison *comparison, Norms *norms, Norm norm)
{
    if (norm == NORM_MAX) {
        mpfr_set(value, norms->max, MPFR_RNDN);
    } else if (norm == NORM_RMS) {
        norms_root(value, norms, comparison->rows.count * comparison->columns.count);
    } else {
        if (mpfr_zero_p(comparison->norm_original)) {
            return false;
        }
        norms_root(value, norms, 1);
        mpfr_div(value, value, comparison->norm_original, MPFR_RNDN);
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
    Measured size;
    mpfr_inits2(REF_CELL_BITS, size.value, size.error, (mpfr_ptr)0);
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        if (!measure(size.value, comparison, &norms, (Norm)norm)) {
            continue;
        }
        mpfr_set_zero(size.error, 1);
        if (question->off != NULL) {
            norm_error(&size, comparison, (Norm)norm, question->off);
        }
        if (question->proven_zero) {
            contradiction |= !cell_zero(&cells[norm], size.value, size.error);
        } else {
            cell_settle(&cells[norm], size.value, size.error);
        }
        if (question->off != NULL) {
            double lacks = cell_lacks(&cells[norm], size.value, size.error);
            /* Two evaluations so near each other may be equal; a carried difference is not 0. */
            bool carried = question->b.mat == NULL && question->b.machine == NULL,
                 noise = cells[norm].lacking == 0 && !carried;
            if (!noise) {
                question->lacking = fmax(question->lacking, lacks);
            } else if (question->kind == ERROR_CONSTRUCTION) {
                question->hidden = fmax(question->hidden, lacks);
            }
        }
    }
    mpfr_clears(size.value, size.error, (mpfr_ptr)0);
    norms_clear(&norms);
    return contradiction;
}

void comparison_ask(Comparison *comparison, Question question)
{
    comparison->question[comparison->count++] = question;
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

void stream_radius(Stream *stream, const Comparison *comparison, RadiusOf of, const ApMat *radius)
{
    const Layout *layout = &comparison->at->pair->converted.layout;
    RefRows rows = comparison->rows;
    mpfr_t square;
    mpfr_init2(square, REF_CELL_BITS);
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; radius != NULL && i < rows.first + rows.count; i++) {
        mpfr_max(stream->error, stream->error, ap_at(radius, i, 0), MPFR_RNDU);
        mpfr_sqr(square, ap_at(radius, i, 0), MPFR_RNDU);
        mpfr_add(stream->root, stream->root, square, MPFR_RNDU);
    }
    if (radius == NULL) {
        size_t first = layout_token_row(layout, rows.first);
        ref_run_radius(comparison->at->run, of, (RefBlock){first, rows.count, comparison->columns},
                       (RefRadii){stream->error, stream->root});
    }
    mpfr_sqrt(stream->root, stream->root, MPFR_RNDU);
    /* squares may leave MPFR's exponents where their roots do not */
    mpfr_sqrt_ui(square, rows.count, MPFR_RNDU);
    mpfr_mul(square, square, stream->error, MPFR_RNDU);
    mpfr_min(stream->root, stream->root, square, MPFR_RNDU);
    mpfr_clear(square);
}

/* The rows compared are proven to be what the stream began with, x [n, ld]? */
typedef struct {
    bool proven;
    const double *x;
    size_t ld;
} Given;

/* A stream whose radius is there. */
static void stream_set(Stream *stream, const Comparison *comparison, Side side, Given given)
{
    Columns columns = comparison->columns;
    RefRows rows = comparison->rows;
    stream->there = true;
    stream->side = side;
    if (!given.proven) {
        return;
    }
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            double entry = given.x[i * given.ld + columns.first + c];
            if (mpfr_cmp_d(entry_of(&side, &(RowPart){i, c, 1}), entry) != 0) {
                comparison->errors->contradiction = true;
            }
        }
    }
}

void streams_set(Streams *streams, const Comparison *comparison, int proven)
{
    const RefLayer *at = comparison->at;
    const Pair *pair = at->pair;
    const RefBase *base = at->base;
    const RefRun *run = at->run;
    const size_t l = at->layer - 1, row = layout_token_row(&pair->converted.layout, 0),
                 column = comparison->columns.first;
    const Given given = {(proven & PROVEN_GIVEN) != 0, pair->converted_x,
                         layout_content(&pair->converted.layout)};
    const Given original_given = {proof_original_given(base->proof, at->layer, comparison->rows),
                                  pair->original_x, layout_content(&pair->original.layout)};
    stream_radius(&streams->original, comparison, RADIUS_STREAM, &base->radius[l]);
    stream_set(&streams->original, comparison, (Side){.mat = &base->original[l]}, original_given);
    if (run != NULL) {
        stream_radius(&streams->converted, comparison, RADIUS_SUM, NULL);
        stream_set(&streams->converted, comparison, (Side){run_outcome(run), NULL, row, column},
                   given);
    }
    if (run != NULL && run->e != NULL) {
        stream_radius(&streams->limit, comparison, RADIUS_STREAM, NULL);
        stream_set(&streams->limit, comparison, (Side){&run->stream, NULL, row, column}, given);
    } else if (base->limit != NULL) {
        stream_radius(&streams->limit, comparison, RADIUS_STREAM, &base->limit_radius[l]);
        stream_set(&streams->limit, comparison, (Side){.mat = &base->limit[l]}, given);
    }
}

void stream_add_errors(Stream *sum, const Stream *a, const Stream *b)
{
    mpfr_add(sum->error, a->error, b->error, MPFR_RNDU);
    mpfr_add(sum->root, a->root, b->root, MPFR_RNDU);
}
