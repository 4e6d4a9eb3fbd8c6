/*
 * One sublayer of a run: what it reads, the stream or its norm, and what it makes of the stream,
 *     x = x + (the sum of its heads),     x = (a direct operation)(x),     x = norm(x).
 */
#include "sublayer.h"

#include "../../cases/model.h"
#include "../numbers/ap.h"

/* ---- A layer norm by its definition ---------------------------------------------------------- */

/*     y = gamma (x - mean(x)) / sqrt(mean(x^2) - mean(x)^2 + eps) + beta,
 * with beta on the token columns, so that the rows which they tell apart have it and the bias row
 * does not.  The text that the structured form must agree with. */

/* mean(x) and mean(x^2) over the norm's columns, in more digits than x has: the second less the
 * square of the first loses as many as an entry has at most. */
static void moments(mpfr_ptr mean, mpfr_ptr squares, const LayerNorm *norm, mpfr_srcptr x)
{
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(squares));
    mpfr_set_zero(mean, 1);
    mpfr_set_zero(squares, 1);
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_add(mean, mean, x + c, MPFR_RNDN);
        mpfr_mul(t, x + c, x + c, MPFR_RNDN);
        mpfr_add(squares, squares, t, MPFR_RNDN);
    }
    mpfr_div_ui(mean, mean, norm->columns.count, MPFR_RNDN);
    mpfr_div_ui(squares, squares, norm->columns.count, MPFR_RNDN);
    mpfr_clear(t);
}

/* The sum of a row's entries in the columns that a bias rides on: 1 of a token, 0 of the bias
 * row. */
static void token_sum(mpfr_ptr sum, const Layout *layout, mpfr_srcptr row)
{
    bool one_column = layout->bias_row == BIAS_ROW_NONE;
    size_t count = one_column ? 1 : layout_token_columns(layout);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < count; i++) {
        size_t column = one_column ? layout_content(layout) : layout_token_column(layout, i);
        mpfr_add(sum, sum, row + column, MPFR_RNDN);
    }
}

static void normalise_row(const Layout *layout, const LayerNorm *norm, mpfr_ptr row)
{
    mpfr_ptr x = row + norm->columns.first;
    mpfr_t mean, root, token, t;
    mpfr_inits2(2 * mpfr_get_prec(x) + 128, mean, root, token, t, (mpfr_ptr)0);
    moments(mean, root, norm, x);
    if (norm->kind == NORMALIZATION_RMSNORM) {
        mpfr_set_zero(mean, 1);
    }
    mpfr_sqr(t, mean, MPFR_RNDN);
    mpfr_sub(root, root, t, MPFR_RNDN);
    mpfr_add_d(root, root, norm->eps, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    token_sum(token, layout, row);
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_sub(t, x + c, mean, MPFR_RNDN);
        mpfr_mul_d(t, t, norm->gamma[c], MPFR_RNDN);
        mpfr_div(t, t, root, MPFR_RNDN);
        mpfr_set(x + c, t, MPFR_RNDN);
        mpfr_mul_d(t, token, norm->beta != NULL ? norm->beta[c] : 0, MPFR_RNDN);
        mpfr_add(x + c, x + c, t, MPFR_RNDN);
    }
    mpfr_clears(mean, root, token, t, (mpfr_ptr)0);
}

/* y = norm(x), streams [rows, dense_width]; y may be x. */
static void dense_norm(const Layout *layout, const LayerNorm *norm, const ApMat *x, ApMat *y)
{
    for (size_t i = 0; y != x && i < x->rows * x->columns; i++) {
        mpfr_set(y->entry + i, x->entry + i, MPFR_RNDN);
    }
    for (size_t row = 0; row < x->rows; row++) {
        if (!norm->tokens_only || row != layout_bias_row(layout)) {
            normalise_row(layout, norm, ap_at(y, row, 0));
        }
    }
}

/* ---- The sublayer ---------------------------------------------------------------------------- */

const NormRecord *run_norm_record(const RefRun *run)
{
    const Tape *tape = run->known != NULL ? run->known : run->kept;
    return tape != NULL ? &tape->norm[run->next.sublayer] : &run->scratch.norm;
}

static StreamNorm norm_at(RefRun *run, const LayerNorm *norm)
{
    return (StreamNorm){&run->ev, &run->model->layout, norm, run_norm_record(run)};
}

/* to = norm(x), which may be x. */
static void normalise_x(RefRun *run, const LayerNorm *norm, ApMat *to)
{
    const StreamNorm at = norm_at(run, norm);
    if (run->form == REF_DENSE) {
        dense_norm(at.layout, norm, &run->stream, to);
        return;
    }
    norm_record_stream(&at, &run->stream);
    norm_write_stream(&at, &run->stream, to);
}

/* Sets the inputs that the sublayer reads, of x and of e: the streams, or their norm. */
static void read_input(RefRun *run, const LayerNorm *norm)
{
    const StreamNorm at = norm_at(run, norm);
    bool normed = norm->kind != NORMALIZATION_NONE;
    run->input = &run->stream;
    if (normed && run->known == NULL) {
        normalise_x(run, norm, &run->scratch.normed);
        run->input = &run->scratch.normed;
    } else if (normed && run->radius != NULL) {
        norm_write_stream(&at, &run->stream, &run->scratch.normed);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        Difference *e = run_change(run, i);
        if (e != NULL && normed) {
            difference_read_normed(&at, e);
        } else if (e != NULL) {
            e->input = &e->stream;
        }
    }
}

/* x += what the sublayer's heads write, and e the change of that. */
static void add_heads(RefRun *run, const Sublayer *sublayer)
{
    ap_zero(&run->scratch.delta);
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_begin(run_change(run, i));
        }
    }
    for (size_t b = 0; b < sublayer->bundle_count;) {
        const Bundle *bundle = &sublayer->bundles[b];
        Heads all = {.ev = &run->ev,
                     .layout = &run->model->layout,
                     .bundle = bundle,
                     .count = bundle->heads,
                     .limit = run->limit};
        if (run->form == REF_DENSE) {
            dense_add(&all, run->input, &run->scratch.dense, &run->scratch.delta);
            b++;
        } else {
            b += run_bundles(run, bundle, sublayer->bundle_count - b);
        }
    }
    if (run->known == NULL) {
        evaluator_add(&run->ev, &run->stream, &run->stream, &run->scratch.delta);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_end(&run->ev, run_change(run, i));
        }
    }
}

/* x = norm(x), and e. */
static void normalise_stream(RefRun *run, const LayerNorm *norm)
{
    const StreamNorm at = norm_at(run, norm);
    if (run->known == NULL) {
        normalise_x(run, norm, &run->stream);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_normalise(&at, run_change(run, i));
        }
    }
}

void run_sublayer(RefRun *run, const Sublayer *sublayer)
{
    if (sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM) {
        normalise_stream(run, &sublayer->norm);
        return;
    }
    read_input(run, &sublayer->norm);
    if (sublayer->bundle_count == 0) {
        direct_operate(run, &sublayer->direct);
    } else {
        add_heads(run, sublayer);
    }
}
