/*
 * The six errors after a layer (docs/mathematics.md, section 2), each with what the precision
 * may have lost.
 */
#include "base.h"
#include "cell.h"
#include "proof.h"
#include "run.h"

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
    const ApMat *mat;
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

/* One kind of error: a - b, every entry known to +-error; proven_zero: exactly 0. */
typedef struct {
    ErrorKind kind;
    Side a, b;
    mpfr_srcptr error;
    bool proven_zero;
} Question;

/* What every kind of error shares after one layer. */
typedef struct {
    RefErrors *errors;
    RefRows rows;
    Columns columns;
    mpfr_prec_t bits;          /* holds any difference's leading bits */
    mpfr_srcptr norm_original; /* Frobenius norm of r(T) */
    Question question[ERROR_KINDS];
    size_t count;
} Comparison;

/* The norms of a - b, known to +-error per entry, into errors->error[kind].  Returns whether a zero
 * that is proven was measured larger than its error. */
static bool compare_sides(const Comparison *comparison, const Question *question)
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
        mpfr_set(scaled, question->error, MPFR_RNDN);
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
        if (question->proven_zero) {
            contradiction |= !cell_zero(&cells[norm], value, scaled);
        } else {
            cell_settle(&cells[norm], value, scaled);
        }
    }
    mpfr_clears(value, scaled, (mpfr_ptr)0);
    norms_clear(&norms);
    return contradiction;
}

static void ask(Comparison *comparison, ErrorKind kind, Side a, Side b, mpfr_srcptr error,
                bool proven_zero)
{
    comparison->question[comparison->count++] = (Question){kind, a, b, error, proven_zero};
}

/* Entries that are worth a parallel region. */
enum { PARALLEL_ENTRIES = 1 << 14 };

static void answer(const Comparison *comparison)
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
} Known;

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
    converted_error(error, known->plan, known->pair, known->run, known->layer, block);
    if ((proven & PROVEN_GIVEN) != 0) {
        mpfr_set_zero(error, 1);
    } else if (known->run->e != NULL && ref_plan_limit_is_zero(known->plan, known->layer, block)) {
        difference_error(error, known->plan, known->pair, known->run, known->layer, block);
    }
    cell_settle(cell, max, error);
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
    cell_settle(&errors->scalar[SCALAR_SCORE], score, error);
    mpfr_clear(error);
}

/* A stream after a layer, where there is one, and what an entry of it may be off by. */
typedef struct {
    bool there;
    Side side;
    mpfr_t error;
} Stream;

/* given: the rows compared are proven to be what the stream began with, x [n, ld]; that is looked
 * at. */
static void stream_set(Stream *stream, const Comparison *comparison, const Known *known, Side side,
                       mpfr_prec_t bits, bool given, const double *x, size_t ld)
{
    Columns columns = comparison->columns;
    RefRows rows = comparison->rows;
    stream->there = true;
    stream->side = side;
    set_power(stream->error, ref_plan_error(known->plan, known->layer, bits));
    if (!given) {
        return;
    }
    mpfr_set_zero(stream->error, 1);
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
    stream_set(&streams->original, comparison, known, (Side){.mat = &base->original[l]}, bits,
               original_given, pair->original_x, d);
    if (run != NULL) {
        stream_set(&streams->converted, comparison, known, (Side){.run = run}, run->claimed.x,
                   given, pair->converted_x, wider);
        if (!given) {
            converted_error(streams->converted.error, known->plan, pair, run, known->layer,
                            BLOCK_COMPARED);
        }
    }
    if (run != NULL && run->e != NULL) {
        stream_set(&streams->limit, comparison, known, (Side){.limit = run}, run->claimed.x, given,
                   pair->converted_x, wider);
    } else if (base->limit != NULL) {
        stream_set(&streams->limit, comparison, known, (Side){.mat = &base->limit[l]}, bits, given,
                   pair->converted_x, wider);
    }
}

/* e as it is carried, or as a difference.  error: for its error; same: it is proven to be 0. */
static void ask_construction(Comparison *comparison, const Known *known, const Streams *streams,
                             mpfr_ptr error, bool same)
{
    Side e = {.difference = known->run}, nothing = {.nothing = true};
    if (known->run->e == NULL) {
        mpfr_add(error, streams->limit.error, streams->converted.error, MPFR_RNDU);
        ask(comparison, ERROR_CONSTRUCTION, streams->converted.side, streams->limit.side, error,
            same);
        return;
    }
    difference_error(error, known->plan, known->pair, known->run, known->layer, BLOCK_COMPARED);
    if (same) {
        mpfr_set_zero(error, 1);
    }
    ask(comparison, ERROR_CONSTRUCTION, e, nothing, error, same);
}

/* What the machine's streams say, either of which may be NULL. */
static void ask_machine(Comparison *comparison, const Streams *streams,
                        const MachineView *converted, const MachineView *original,
                        mpfr_srcptr exact)
{
    Side m_t = {.machine = original}, m_prime = {.machine = converted};
    const Stream *t = &streams->original, *prime = &streams->converted;
    if (converted != NULL && prime->there) {
        ask(comparison, ERROR_ROUNDING, m_prime, prime->side, prime->error, false);
    }
    if (original != NULL) {
        ask(comparison, ERROR_NATIVE, m_t, t->side, t->error, false);
    }
    if (converted != NULL) {
        ask(comparison, ERROR_TOTAL, m_prime, t->side, t->error, false);
    }
    if (converted != NULL && original != NULL) {
        ask(comparison, ERROR_OBSERVED, m_prime, m_t, exact, false);
    }
}

void ref_compare_rows(RefErrors *errors, const Pair *pair, const RefPlan *plan, const RefBase *base,
                      size_t layer, RefRows rows, const RefRun *run, const MachineView *converted,
                      const MachineView *original)
{
    mpfr_t norm, e, both, exact;
    Streams streams = {0};
    Stream *const all[] = {&streams.original, &streams.limit, &streams.converted};
    int proven = proof_compared(base->proof, layer, rows);
    mpfr_prec_t bits = run != NULL && run->ev.bits > base->bits ? run->ev.bits : base->bits;
    Comparison comparison = {errors, rows, pair->compared[layer - 1], bits + 64, norm, {{0}}, 0};
    Known known = {pair, plan, base->proof, run, layer, streams.converted.error};
    errors_reset(errors);
    mpfr_inits2(REF_CELL_BITS, norm, e, both, exact, (mpfr_ptr)0);
    for (size_t i = 0; i < 3; i++) {
        mpfr_init2(all[i]->error, REF_CELL_BITS);
    }
    mpfr_set_zero(exact, 1);
    original_size(errors, norm, &base->original[layer - 1], rows);
    errors->left_range = mpfr_nan_p(errors->max_original) || (run != NULL && run->left_range);
    streams_set(&streams, &comparison, &known, base, proven);
    if (streams.limit.there) {
        bool zero = (proven & PROVEN_GIVEN) != 0 && mpfr_zero_p(streams.original.error);
        mpfr_add(both, streams.limit.error, streams.original.error, MPFR_RNDU);
        ask(&comparison, ERROR_APPROXIMATION, streams.limit.side, streams.original.side, both,
            pair->limit_is_original || zero);
    }
    if (run != NULL) {
        ask_construction(&comparison, &known, &streams, e, (proven & PROVEN_SAME) != 0);
        compare_leaks(errors, &known);
    }
    ask_machine(&comparison, &streams, converted, original, exact);
    answer(&comparison);
    compare_score(errors, plan, base, layer);
    for (size_t i = 0; i < 3; i++) {
        mpfr_clear(all[i]->error);
    }
    mpfr_clears(norm, e, both, exact, (mpfr_ptr)0);
}

void ref_compare(RefErrors *errors, const Pair *pair, const RefPlan *plan, const RefBase *base,
                 size_t layer, const RefRun *run, const MachineView *converted,
                 const MachineView *original)
{
    RefRows all = {0, pair->original.layout.n};
    ref_compare_rows(errors, pair, plan, base, layer, all, run, converted, original);
}
