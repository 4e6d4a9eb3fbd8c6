/*
 * The six errors after a layer (docs/mathematics.md, section 2), each with what the precision
 * may have lost.
 */
#include "base.h"
#include "cell.h"
#include "proof.h"
#include "run.h"

#include <math.h>
#include <stdint.h>

/* Sums over the compared entries: largest |d|, and the sum of (d 2^-shift)^2, shift the largest
 * exponent so far, since squares may leave MPFR's exponents where their roots do not. */
typedef struct {
    mpfr_t max, squares, d, t;
    mpfr_exp_t shift;
} Norms;

static void norms_init(Norms *norms, mpfr_prec_t bits)
{
    mpfr_inits2(REF_CELL_BITS, norms->max, norms->squares, norms->t, (mpfr_ptr)0);
    mpfr_init2(norms->d, bits);
    mpfr_set_zero(norms->max, 1);
    mpfr_set_zero(norms->squares, 1);
    norms->shift = mpfr_get_emin();
}

static void norms_clear(Norms *norms)
{
    mpfr_clears(norms->max, norms->squares, norms->d, norms->t, (mpfr_ptr)0);
}

/* Takes in one entry, norms->d.  A NaN or infinity stays. */
static void norms_add(Norms *norms)
{
    mpfr_exp_t exponent = mpfr_regular_p(norms->d) ? mpfr_get_exp(norms->d) : norms->shift;
    mpfr_exp_t rise = exponent - norms->shift;
    if (rise > REF_CELL_BITS) {
        mpfr_set_zero(norms->squares, 1); /* smaller by more than they have bits */
    } else if (rise > 0) {
        mpfr_mul_2si(norms->squares, norms->squares, -2 * rise, MPFR_RNDN);
    }
    norms->shift = rise > 0 ? exponent : norms->shift;
    mpfr_mul_2si(norms->t, norms->d, -norms->shift, MPFR_RNDN);
    mpfr_sqr(norms->t, norms->t, MPFR_RNDN);
    mpfr_add(norms->squares, norms->squares, norms->t, MPFR_RNDN);
    if (!mpfr_number_p(norms->d) || mpfr_nan_p(norms->max)) {
        mpfr_set_nan(norms->max);
    } else if (mpfr_cmpabs(norms->d, norms->max) > 0) {
        mpfr_abs(norms->max, norms->d, MPFR_RNDN);
    }
}

/* root = sqrt(sum of d^2 / count) */
static void norms_root(mpfr_ptr root, const Norms *norms, unsigned long count)
{
    mpfr_div_ui(root, norms->squares, count, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_mul_2si(root, root, norms->shift, MPFR_RNDN);
}

/* One side of a difference: a stored matrix, a run, what a run carries as its difference or that
 * is from, a machine's stream, or nothing. */
typedef struct {
    const ApMat *mat, *radius; /* radius: of its rows, where it is certified */
    const RefRun *run, *difference, *limit;
    const MachineView *machine;
    bool nothing;
} Side;

static mpfr_srcptr side_entry(const Side *side, Columns columns, size_t i, size_t c)
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

static void side_subtract(mpfr_ptr d, const Side *side, Columns columns, size_t i, size_t c,
                          bool first)
{
    if (side->nothing) {
        return;
    }
    if (side->machine != NULL) {
        double entry = side->machine->data[i * side->machine->ld + columns.first + c];
        if (first) {
            mpfr_set_d(d, entry, MPFR_RNDN);
        } else {
            mpfr_sub_d(d, d, entry, MPFR_RNDN);
        }
        return;
    }
    mpfr_srcptr entry = side_entry(side, columns, i, c);
    if (first) {
        mpfr_set(d, entry, MPFR_RNDN);
    } else {
        mpfr_sub(d, d, entry, MPFR_RNDN);
    }
}

/* What entries may be off by: any one; all of them together, as the root of the sum of squares,
 * where that is known too, by radii. */
typedef struct {
    mpfr_srcptr entry, root;
} Off;

/* One kind of error: a - b, known to +-off; proven_zero: exactly 0. */
typedef struct {
    ErrorKind kind;
    Side a, b;
    Off off;
    bool proven_zero;
    double lacking; /* see RefErrors */
} Question;

/* What every kind of error shares after one layer. */
typedef struct {
    RefErrors *errors;
    RefRows rows;
    Columns columns;
    mpfr_prec_t bits;          /* holds any difference's leading bits */
    mpfr_srcptr norm_original; /* Frobenius norm of r(T) */
    mpfr_srcptr norm_off;      /* what that may be off by, or NULL: not certified */
    Question question[ERROR_KINDS];
    size_t count;
} Comparison;

/* An infinite radius, as what no plan follows: an exponent beyond any that a stream can have. */
static void radii_limit(mpfr_ptr error)
{
    if (!mpfr_number_p(error)) {
        mpfr_set_ui_2exp(error, 1, (mpfr_exp_t)0x1p40, MPFR_RNDU);
    }
}

/* By how much less than 1 a norm's relative rounding errors are: of REF_CELL_BITS bits, and of
 * entries with 64 bits more than the streams have. */
enum { COMPARED_BITS = 120 };

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
    radii_limit(error);
    mpfr_clears(t, low, (mpfr_ptr)0);
}

/* The norms of a - b, known to +-error per entry, into errors->error[kind].  Returns whether a zero
 * that is proven was measured larger than its error. */
static bool compare_sides(const Comparison *comparison, Question *question)
{
    RefCell *cells = comparison->errors->error[question->kind];
    RefRows rows = comparison->rows;
    bool contradiction = false;
    Norms norms;
    norms_init(&norms, comparison->bits);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < comparison->columns.count; c++) {
            side_subtract(norms.d, &question->a, comparison->columns, i, c, true);
            side_subtract(norms.d, &question->b, comparison->columns, i, c, false);
            norms_add(&norms);
        }
    }
    mpfr_t value, scaled;
    mpfr_inits2(REF_CELL_BITS, value, scaled, (mpfr_ptr)0);
    unsigned long count = (unsigned long)(rows.count * comparison->columns.count);
    for (int norm = 0; norm < NORM_COUNT; norm++) {
        mpfr_set(scaled, question->off.entry, MPFR_RNDN);
        if (norm == NORM_MAX) {
            mpfr_set(value, norms.max, MPFR_RNDN);
        } else if (norm == NORM_RMS) {
            norms_root(value, &norms, count);
        } else {
            if (mpfr_zero_p(comparison->norm_original)) {
                continue; /* no relative error of a zero */
            }
            norms_root(value, &norms, 1);
            mpfr_div(value, value, comparison->norm_original, MPFR_RNDN);
            mpfr_sqrt_ui(norms.t, count, MPFR_RNDU);
            mpfr_mul(scaled, scaled, norms.t, MPFR_RNDU);
            mpfr_div(scaled, scaled, comparison->norm_original, MPFR_RNDU);
        }
        if (question->off.root != NULL) {
            norm_error(scaled, comparison, &question->off, (Norm)norm, count, value);
        }
        if (question->proven_zero) {
            contradiction |= !cell_zero(&cells[norm], value, scaled);
        } else {
            cell_settle(&cells[norm], value, scaled);
        }
        if (question->off.root != NULL) {
            question->lacking = fmax(question->lacking, cell_lacks(&cells[norm], value, scaled));
        }
    }
    mpfr_clears(value, scaled, (mpfr_ptr)0);
    norms_clear(&norms);
    return contradiction;
}

static void ask(Comparison *comparison, ErrorKind kind, Side a, Side b, Off off, bool proven_zero)
{
    comparison->question[comparison->count++] = (Question){kind, a, b, off, proven_zero, 0};
}

/* Entries that are worth a parallel region. */
enum { PARALLEL_ENTRIES = 1 << 14 };

static void answer(Comparison *comparison)
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
        comparison->errors->lacking =
            fmax(comparison->errors->lacking, comparison->question[q].lacking);
    }
}

/* 2^exponent */
static void set_power(mpfr_ptr y, mpfr_exp_t exponent)
{
    mpfr_set_ui_2exp(y, 1, exponent, MPFR_RNDU);
}

/* Norm and largest entry of some rows of r(T). */
static void original_size(RefErrors *errors, mpfr_ptr norm, const ApMat *original, RefRows rows)
{
    Norms norms;
    norms_init(&norms, original->bits);
    for (size_t i = 0; i < rows.count * original->columns; i++) {
        mpfr_set(norms.d, ap_at(original, rows.first, 0) + i, MPFR_RNDN);
        norms_add(&norms);
    }
    norms_root(norm, &norms, 1);
    mpfr_set(errors->max_original, norms.max, MPFR_RNDN);
    norms_clear(&norms);
}

/* The largest |entry| of rows first .. first + rows - 1 in some columns. */
static void block_max(mpfr_ptr max, const ApMat *mat, size_t first, size_t rows, Columns columns)
{
    mpfr_set_zero(max, 1);
    for (size_t i = first; i < first + rows; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            mpfr_srcptr entry = ap_at(mat, i, c);
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

/* The position columns less what they began with, where the run stores them; else no head can
 * write them. */
static void compare_onehot(RefErrors *errors, const RefRun *run, mpfr_ptr t)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
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
    mpfr_clear(max);
}

/* error = what e's entries in a block may be off by, relative to the largest of them; false where
 * that is 0, or not known. */
static bool relative_error(mpfr_ptr error, const RefPlan *plan, const Pair *pair, const RefRun *run,
                           size_t layer, RefBlock block)
{
    const Layout *layout = &pair->converted.layout;
    const ApMat *e = &run->e->stream;
    mpfr_exp_t relative;
    if (block == BLOCK_BIAS_ROW) {
        block_max(error, e, layout_bias_row(layout), 1, (Columns){0, layout_content(layout)});
    } else {
        block_max(error, e, layout_token_row(layout, 0), layout->n,
                  block == BLOCK_COMPARED ? pair->compared[layer - 1] : pair->cleared[layer - 1]);
    }
    if (!ref_plan_difference_error(&relative, plan, layer, block, run->claimed.e) ||
        mpfr_zero_p(error)) {
        return false;
    }
    mpfr_mul_2si(error, error, (long)relative, MPFR_RNDU);
    return true;
}

/* The same, and else what x may be off by, which e is not more: with e's bits, where e is not 0. */
static void difference_error(mpfr_ptr error, const RefPlan *plan, const Pair *pair,
                             const RefRun *run, size_t layer, RefBlock block)
{
    if (!relative_error(error, plan, pair, run, layer, block)) {
        mpfr_prec_t bits = mpfr_zero_p(error) ? run->claimed.x : run->claimed.e;
        set_power(error, ref_plan_error(plan, layer, bits));
    }
}

/* error = what r(T')'s entries in a block may be off by: x's own, and with fewer bits e's. */
static void converted_error(mpfr_ptr error, const RefPlan *plan, const Pair *pair,
                            const RefRun *run, size_t layer, RefBlock block)
{
    mpfr_t more;
    set_power(error, ref_plan_error(plan, layer, run->claimed.x));
    if (run->e != NULL && run->claimed.e < run->claimed.x) {
        mpfr_init2(more, REF_CELL_BITS);
        if (!relative_error(more, plan, pair, run, layer, block) && !mpfr_zero_p(more)) {
            set_power(more, ref_plan_error(plan, layer, run->claimed.e));
        }
        mpfr_add(error, error, more, MPFR_RNDU);
        mpfr_clear(more);
    }
}

/* What is known of a run after a layer. */
typedef struct {
    const Pair *pair;
    const RefPlan *plan;
    const RefProof *proof;
    const RefRun *run;
    size_t layer;
    mpfr_srcptr error; /* of r(T') */
    bool certified;    /* base and run have radii */
} Known;

/* error = the radius of x + e in a block: what its largest entry may be off by. */
static void leak_radius(mpfr_ptr error, const Known *known, RefBlock block)
{
    const Layout *layout = &known->pair->converted.layout;
    mpfr_t squares;
    mpfr_init2(squares, REF_CELL_BITS);
    if (block == BLOCK_BIAS_ROW) {
        ref_run_radius(known->run, RADIUS_SUM, layout_bias_row(layout), 1,
                       (Columns){0, layout_content(layout)}, error, squares);
    } else {
        ref_run_radius(known->run, RADIUS_SUM, layout_token_row(layout, 0), layout->n,
                       known->pair->cleared[known->layer - 1], error, squares);
    }
    radii_limit(error);
    mpfr_clear(squares);
}

/* The cell of a block of T' with a largest entry of max, of which `proven` holds.  Where T_infinity
 * has zeros, what is there is e, with e's error. */
static void settle_leak(RefErrors *errors, RefCell *cell, const Known *known, mpfr_srcptr max,
                        RefBlock block, int proven)
{
    mpfr_t error;
    if ((proven & PROVEN_ZERO) != 0) {
        errors->contradiction |= !cell_zero(cell, max, known->error);
        return;
    }
    mpfr_init2(error, REF_CELL_BITS);
    if (known->certified) {
        leak_radius(error, known, block);
    } else {
        converted_error(error, known->plan, known->pair, known->run, known->layer, block);
    }
    if ((proven & PROVEN_GIVEN) != 0) {
        mpfr_set_zero(error, 1);
    } else if (!known->certified && known->run->e != NULL &&
               ref_plan_limit_is_zero(known->plan, known->layer, block)) {
        difference_error(error, known->plan, known->pair, known->run, known->layer, block);
    }
    cell_settle(cell, max, error);
    if (known->certified) {
        errors->lacking = fmax(errors->lacking, cell_lacks(cell, max, error));
    }
    mpfr_clear(error);
}

static void compare_leaks(RefErrors *errors, const Known *known)
{
    const Pair *pair = known->pair;
    const Layout *layout = &pair->converted.layout;
    const ApMat *outcome = run_outcome(known->run);
    Columns cleared = pair->cleared[known->layer - 1], content = {0, layout_content(layout)};
    size_t bias = layout_bias_row(layout), token = layout_token_row(layout, 0);
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
    if (layout->bias_row != BIAS_ROW_NONE) {
        block_max(max, outcome, bias, 1, content);
        settle_leak(errors, &errors->scalar[SCALAR_BIAS_ROW], known, max, BLOCK_BIAS_ROW,
                    proof_bias_row(known->proof, known->layer));
        compare_onehot(errors, known->run, max);
    }
    if (cleared.count > 0) {
        block_max(max, outcome, token, layout->n, cleared);
        settle_leak(errors, &errors->scalar[SCALAR_HIDDEN], known, max, BLOCK_CLEARED,
                    proof_cleared(known->proof, known->layer));
    }
    mpfr_clear(max);
}

/* r(T)'s scores carry the stream's relative loss and that of their product, or their radius. */
static void compare_score(RefErrors *errors, const RefPlan *plan, const RefBase *base, size_t layer)
{
    mpfr_srcptr score = ap_at(&base->score_max, 0, layer - 1);
    mpfr_t error;
    if (!base->has_scores) {
        return;
    }
    mpfr_init2(error, REF_CELL_BITS);
    if (ref_base_certified(base)) {
        mpfr_mul_2si(error, score, -COMPARED_BITS, MPFR_RNDU);
        mpfr_add(error, error, ap_at(&base->score_off, 0, layer - 1), MPFR_RNDU);
        radii_limit(error);
    } else {
        mpfr_exp_t relative = ref_plan_relative_error(plan, layer, base->bits);
        mpfr_mul_2si(error, score, (long)relative + 8, MPFR_RNDU);
    }
    RefCell *cell = &errors->scalar[SCALAR_SCORE];
    cell_settle(cell, score, error);
    if (ref_base_certified(base)) {
        errors->lacking = fmax(errors->lacking, cell_lacks(cell, score, error));
    }
    mpfr_clear(error);
}

/* A stream after a layer, where there is one, and what an entry of it may be off by; certified:
 * what all compared entries may be, together. */
typedef struct {
    bool there, certified;
    Side side;
    mpfr_t error, root;
} Stream;

static Off off_of(const Stream *stream)
{
    return (Off){stream->error, stream->certified ? stream->root : NULL};
}

/* The radii of the rows of a side that are compared: of a base's, or a run's. */
static void stream_radius(Stream *stream, const Comparison *comparison, const Known *known)
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
    mpfr_clear(square);
}

/* given: the rows compared are proven to be what the stream began with, x [n, ld]; that is looked
 * at. */
static void stream_set(Stream *stream, const Comparison *comparison, const Known *known, Side side,
                       mpfr_prec_t bits, bool given, const double *x, size_t ld)
{
    Columns columns = comparison->columns;
    RefRows rows = comparison->rows;
    stream->there = true;
    stream->side = side;
    stream->certified = known->certified;
    if (known->certified) {
        stream_radius(stream, comparison, known);
    } else {
        set_power(stream->error, ref_plan_error(known->plan, known->layer, bits));
    }
    if (!given) {
        return;
    }
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            double entry = x[i * ld + columns.first + c];
            if (mpfr_cmp_d(side_entry(&side, columns, i, c), entry) != 0) {
                comparison->errors->contradiction = true;
            }
        }
    }
}

/* r(T), r(T_infinity), r(T'). */
typedef struct {
    Stream original, limit, converted;
    Stream e, both; /* errors of e, and of r(T_infinity) - r(T) */
} Streams;

static void streams_set(Streams *streams, const Comparison *comparison, const Known *known,
                        const RefBase *base, int proven)
{
    const Pair *pair = known->pair;
    const RefRun *run = known->run;
    size_t l = known->layer - 1, d = layout_content(&pair->original.layout);
    size_t wider = layout_content(&pair->converted.layout);
    bool given = (proven & PROVEN_GIVEN) != 0;
    bool original_given = proof_original_given(base->proof, known->layer, comparison->rows);
    /* A base that others share may have more bits: a bound does not depend on them. */
    mpfr_prec_t bits = run != NULL && run->claimed.x < base->bits ? run->claimed.x : base->bits;
    stream_set(
        &streams->original, comparison, known,
        (Side){.mat = &base->original[l], .radius = known->certified ? &base->radius[l] : NULL},
        bits, original_given, pair->original_x, d);
    if (run != NULL) {
        stream_set(&streams->converted, comparison, known, (Side){.run = run}, run->claimed.x,
                   given, pair->converted_x, wider);
        if (!given && !known->certified) {
            converted_error(streams->converted.error, known->plan, pair, run, known->layer,
                            BLOCK_COMPARED);
        }
    }
    if (run != NULL && run->e != NULL) {
        stream_set(&streams->limit, comparison, known, (Side){.limit = run}, run->claimed.x, given,
                   pair->converted_x, wider);
    } else if (base->limit != NULL) {
        stream_set(&streams->limit, comparison, known,
                   (Side){.mat = &base->limit[l],
                          .radius = known->certified ? &base->limit_radius[l] : NULL},
                   bits, given, pair->converted_x, wider);
    }
}

/* sum = what the difference of two streams may be off by. */
static void add_errors(Stream *sum, const Stream *a, const Stream *b)
{
    sum->certified = a->certified && b->certified;
    mpfr_add(sum->error, a->error, b->error, MPFR_RNDU);
    mpfr_add(sum->root, a->root, b->root, MPFR_RNDU);
}

/* e as it is carried, or as a difference.  error: for its error; same: it is proven to be 0. */
static void ask_construction(Comparison *comparison, const Known *known, const Streams *streams,
                             Stream *error, bool same)
{
    Side e = {.difference = known->run}, nothing = {.nothing = true};
    if (known->run->e == NULL) {
        add_errors(error, &streams->limit, &streams->converted);
        ask(comparison, ERROR_CONSTRUCTION, streams->converted.side, streams->limit.side,
            off_of(error), same);
        return;
    }
    error->side = e;
    error->certified = known->certified;
    if (known->certified) {
        stream_radius(error, comparison, known);
    } else {
        difference_error(error->error, known->plan, known->pair, known->run, known->layer,
                         BLOCK_COMPARED);
    }
    if (same) {
        mpfr_set_zero(error->error, 1);
        mpfr_set_zero(error->root, 1);
    }
    ask(comparison, ERROR_CONSTRUCTION, e, nothing, off_of(error), same);
}

/* What the machine's streams say, either of which may be NULL. */
static void ask_machine(Comparison *comparison, const Streams *streams,
                        const MachineView *converted, const MachineView *original,
                        mpfr_srcptr exact)
{
    Side m_t = {.machine = original}, m_prime = {.machine = converted};
    const Stream *t = &streams->original, *prime = &streams->converted;
    if (converted != NULL && prime->there) {
        ask(comparison, ERROR_ROUNDING, m_prime, prime->side, off_of(prime), false);
    }
    if (original != NULL) {
        ask(comparison, ERROR_NATIVE, m_t, t->side, off_of(t), false);
    }
    if (converted != NULL) {
        ask(comparison, ERROR_TOTAL, m_prime, t->side, off_of(t), false);
    }
    if (converted != NULL && original != NULL) {
        ask(comparison, ERROR_OBSERVED, m_prime, m_t, (Off){exact, NULL}, false);
    }
}

void ref_compare_rows(RefErrors *errors, const Pair *pair, const RefPlan *plan, const RefBase *base,
                      size_t layer, RefRows rows, const RefRun *run, const MachineView *converted,
                      const MachineView *original)
{
    mpfr_t norm, exact;
    Streams streams = {0};
    Stream *const all[] = {&streams.original, &streams.limit, &streams.converted, &streams.e,
                           &streams.both};
    int proven = proof_compared(base->proof, layer, rows);
    mpfr_prec_t bits = run != NULL && run->ev.bits > base->bits ? run->ev.bits : base->bits;
    Comparison comparison = {errors, rows, pair->compared[layer - 1], bits + 64, norm, NULL,
                             {{0}},  0};
    Known known = {pair,
                   plan,
                   base->proof,
                   run,
                   layer,
                   streams.converted.error,
                   ref_base_certified(base) && (run == NULL || ref_run_certified(run))};
    errors_reset(errors);
    mpfr_inits2(REF_CELL_BITS, norm, exact, (mpfr_ptr)0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mpfr_inits2(REF_CELL_BITS, all[i]->error, all[i]->root, (mpfr_ptr)0);
    }
    mpfr_set_zero(exact, 1);
    original_size(errors, norm, &base->original[layer - 1], rows);
    errors->left_range = mpfr_nan_p(errors->max_original) || (run != NULL && run->left_range);
    streams_set(&streams, &comparison, &known, base, proven);
    comparison.norm_off = known.certified ? streams.original.root : NULL;
    if (streams.limit.there) {
        bool zero = (proven & PROVEN_GIVEN) != 0 && mpfr_zero_p(streams.original.error);
        add_errors(&streams.both, &streams.limit, &streams.original);
        ask(&comparison, ERROR_APPROXIMATION, streams.limit.side, streams.original.side,
            off_of(&streams.both), pair->limit_is_original || zero);
    }
    if (run != NULL) {
        ask_construction(&comparison, &known, &streams, &streams.e, (proven & PROVEN_SAME) != 0);
        compare_leaks(errors, &known);
    }
    ask_machine(&comparison, &streams, converted, original, exact);
    answer(&comparison);
    compare_score(errors, plan, base, layer);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mpfr_clears(all[i]->error, all[i]->root, (mpfr_ptr)0);
    }
    mpfr_clears(norm, exact, (mpfr_ptr)0);
}

void ref_compare(RefErrors *errors, const Pair *pair, const RefPlan *plan, const RefBase *base,
                 size_t layer, const RefRun *run, const MachineView *converted,
                 const MachineView *original)
{
    RefRows all = {0, pair->original.layout.n};
    ref_compare_rows(errors, pair, plan, base, layer, all, run, converted, original);
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
    mpfr_t zero; /* off by nothing; and r(T)'s norm, so that there is no relative error */
    mpfr_init2(zero, REF_CELL_BITS);
    mpfr_set_zero(zero, 1);
    Comparison comparison = {errors, rows, columns, REF_CELL_BITS + 64, zero, NULL, {{0}}, 0};
    errors_reset(errors);
    mpfr_set_d(errors->max_original, machine_largest(original, rows, columns), MPFR_RNDN);
    ask(&comparison, ERROR_OBSERVED, m_prime, m_t, (Off){zero, NULL}, false);
    answer(&comparison);
    mpfr_clear(zero);
}
