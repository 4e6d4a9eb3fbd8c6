/*
 * Layers of a run by their definition: full matrices, and a norm as its formula is written.
 */
#include "textbook.h"

#include "../reference/run/sublayer.h"
#include "unit.h"

#include <stdlib.h>

/* Scores beyond 2^this are refused. */
enum { MOST_EXPONENT = 1 << 24 };

/* What one layer computes with.  All of it has so many bits that a score has as many behind the
 * point as the run has where terms are of size 1, however large they are. */
typedef struct {
    RefRun *run;
    const Bundle *bundle;
    size_t head, rows, width;
    ApMat x;              /* [rows, width] what is read, with the columns that biases ride on */
    ApMat q, v;           /* [width, width] of the head, Q with Omega */
    ApMat xq, px;         /* [rows, width] */
    ApMat pattern, delta; /* [rows, rows]; [rows, width] the sum of the heads */
    mpfr_t t, total, top;
    bool *in; /* [rows] the keys that a row's softmax is over */
} Text;

static void text_init(Text *text, mpfr_prec_t bits)
{
    ap_init(&text->q, text->width, text->width, bits);
    ap_init(&text->v, text->width, text->width, bits);
    ap_init(&text->xq, text->rows, text->width, bits);
    ap_init(&text->px, text->rows, text->width, bits);
    ap_init(&text->pattern, text->rows, text->rows, bits);
    mpfr_inits2(bits, text->t, text->total, text->top, (mpfr_ptr)0);
}

static void text_clear(Text *text)
{
    ApMat *const mats[] = {&text->q, &text->v, &text->xq, &text->px, &text->pattern};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++) {
        ap_clear(mats[i]);
    }
    mpfr_clears(text->t, text->total, text->top, (mpfr_ptr)0);
}

/* m = a b. */
static void mat_mul(ApMat *m, const ApMat *a, const ApMat *b)
{
    ap_zero(m);
    for (size_t i = 0; i < m->rows; i++) {
        for (size_t k = 0; k < a->columns; k++) {
            for (size_t j = 0; j < m->columns && !mpfr_zero_p(ap_at(a, i, k)); j++) {
                mpfr_ptr entry = ap_at(m, i, j);
                mpfr_fma(entry, ap_at(a, i, k), ap_at(b, k, j), entry, MPFR_RNDN);
            }
        }
    }
}

/* Column i of those that a bias rides on: a token's position column, or the constant column. */
static size_t token_columns(const Layout *layout)
{
    return layout->bias_row == BIAS_ROW_NONE ? 1 : layout_token_columns(layout);
}

static size_t token_column(const Layout *layout, size_t i)
{
    return layout->bias_row == BIAS_ROW_NONE ? layout_content(layout)
                                             : layout_token_column(layout, i);
}

static const Layout *layout_of(const Text *text)
{
    return &text->run->model->layout;
}

static bool has_positions(const Layout *layout)
{
    return layout->bias_row != BIAS_ROW_NONE && layout->bias_row != BIAS_ROW_MASKED;
}

/* ---- Q -------------------------------------------------------------------------------------- */

/* Entry r of the query (or key) factor's row a of those read; a == read.count: of the token
 * columns' row, which is the bias. */
static double factor_entry(const Score *score, const HeadWeight *w, const double *bias, size_t h,
                           size_t a, size_t r)
{
    if (a < score->read.count) {
        return w->data[h * w->head_stride + a * w->ld + r];
    }
    return bias != NULL ? bias[h * score->d_head + r] : 0;
}

/* Sets entry (a, b) of Q, indices among the columns read and then the token columns. */
static void spread(Text *text, size_t a, size_t b, mpfr_srcptr entry)
{
    const Score *score = &text->bundle->score;
    const Layout *layout = layout_of(text);
    size_t tokens = token_columns(layout), count = score->read.count;
    for (size_t i = 0; i < (a < count ? 1 : tokens); i++) {
        for (size_t j = 0; j < (b < count ? 1 : tokens); j++) {
            size_t row = a < count ? score->read.first + a : token_column(layout, i);
            size_t column = b < count ? score->read.first + b : token_column(layout, j);
            mpfr_set(ap_at(&text->q, row, column), entry, MPFR_RNDN);
        }
    }
}

/* scale * q_h, or scale * (q_h; q_bias) (k_h; k_bias)^T. */
static void fill_bilinear(Text *text, const Score *score, size_t h)
{
    mpfr_ptr t = text->t, entry = text->total;
    size_t extent = score->read.count + (score->d_head > 0);
    for (size_t a = 0; a < extent; a++) {
        for (size_t b = 0; b < extent; b++) {
            mpfr_set_zero(entry, 1);
            if (score->d_head == 0) {
                mpfr_set_d(entry, factor_entry(score, &score->q, NULL, h, a, b), MPFR_RNDN);
            }
            for (size_t r = 0; r < score->d_head; r++) {
                mpfr_set_d(t, factor_entry(score, &score->q, score->q_bias, h, a, r), MPFR_RNDN);
                mpfr_mul_d(t, t, factor_entry(score, &score->k, score->k_bias, h, b, r), MPFR_RNDN);
                mpfr_add(entry, entry, t, MPFR_RNDN);
            }
            mpfr_mul_si(entry, entry, score->scale.num, MPFR_RNDN);
            mpfr_div_si(entry, entry, score->scale.den, MPFR_RNDN);
            mpfr_sqrt_ui(t, (unsigned long)score->scale.sqrt_den, MPFR_RNDN);
            mpfr_div(entry, entry, t, MPFR_RNDN);
            spread(text, a, b, entry);
        }
    }
}

/* Q[c, p_i] = a g[c] for tokens i, Q[p_j, p_i] = a (gate bias) + shift for tokens i and j. */
static void fill_gate(Text *text, const Score *score, size_t h)
{
    const Layout *layout = layout_of(text);
    ApMat *q = &text->q;
    for (size_t i = 0; i < token_columns(layout); i++) {
        size_t p_i = token_column(layout, i);
        for (size_t c = 0; c < score->read.count; c++) {
            double g = score->gate.data != NULL
                           ? score->gate.data[h * score->gate.head_stride + c * score->gate.ld]
                           : (c == h ? score->gate_unit : 0);
            mpfr_set_d(text->t, g, MPFR_RNDN);
            mpfr_mul_d(ap_at(q, score->read.first + c, p_i), text->t, score->gate_scale, MPFR_RNDN);
        }
        for (size_t j = 0; j < token_columns(layout); j++) {
            mpfr_ptr entry = ap_at(q, token_column(layout, j), p_i);
            mpfr_set_d(entry, score->gate_bias != NULL ? score->gate_bias[h] : 0, MPFR_RNDN);
            mpfr_mul_d(entry, entry, score->gate_scale, MPFR_RNDN);
            mpfr_add_d(entry, entry, score->gate_shift != NULL ? score->gate_shift[h] : 0,
                       MPFR_RNDN);
        }
    }
}

/* Q of the head; Q[p_i, p_j] has coefficient * Omega more, where there are position columns. */
static void fill_q(Text *text)
{
    const Layout *layout = layout_of(text);
    const Score *score = &text->bundle->score;
    size_t content = layout_content(layout);
    ap_zero(&text->q);
    if (score_by_key(score)) {
        fill_bilinear(text, score, text->head);
    } else if (score_by_gate(score)) {
        fill_gate(text, score, text->head);
    }
    for (size_t i = 0; !text->run->limit && has_positions(layout) && i < text->rows; i++) {
        for (size_t j = 0; j < text->rows; j++) {
            mpfr_ptr entry = ap_at(&text->q, content + i, content + j);
            mpfr_set_d(text->t, text->run->ev.omega, MPFR_RNDN);
            mpfr_mul_si(text->t, text->t, score_position(layout, score, text->head, i, j),
                        MPFR_RNDN);
            mpfr_add(entry, entry, text->t, MPFR_RNDN);
        }
    }
}

/* ---- V -------------------------------------------------------------------------------------- */

/* The content block of V: entry (a, b) of V_h's [read, write] block. */
static void content_value(Text *text, mpfr_ptr entry, const Value *value, size_t a, size_t b)
{
    size_t h = text->head;
    mpfr_ptr t = text->t;
    mpfr_set_si(entry, a == h && b == h ? value->unit : 0, MPFR_RNDN);
    if (value->v.data != NULL && value->d_head == 0) {
        mpfr_set_d(entry, value->v.data[h * value->v.head_stride + a * value->v.ld + b], MPFR_RNDN);
    }
    for (size_t r = 0; r < value->d_head; r++) {
        mpfr_set_d(t, value->v.data[h * value->v.head_stride + a * value->v.ld + r], MPFR_RNDN);
        mpfr_mul_d(t, t, value->o.data[h * value->o.head_stride + r * value->o.ld + b], MPFR_RNDN);
        mpfr_add(entry, entry, t, MPFR_RNDN);
    }
    mpfr_mul_d(entry, entry, value->scale, MPFR_RNDN);
}

/* The entry of V in a token column's row and column b of those written. */
static void position_value(Text *text, mpfr_ptr entry, const Value *value, size_t b)
{
    size_t h = text->head;
    mpfr_ptr t = text->t;
    mpfr_set_zero(entry, 1);
    for (size_t r = 0; value->inner_bias != NULL && r < value->d_head; r++) {
        mpfr_set_d(t, value->inner_bias[h * value->d_head + r], MPFR_RNDN);
        mpfr_mul_d(t, t, value->o.data[h * value->o.head_stride + r * value->o.ld + b], MPFR_RNDN);
        mpfr_add(entry, entry, t, MPFR_RNDN);
    }
    mpfr_mul_d(entry, entry, value->scale, MPFR_RNDN);
    if (value->bias != NULL && h == 0) {
        mpfr_add_d(entry, entry, value->bias[b], MPFR_RNDN);
    }
}

static void fill_v(Text *text)
{
    const Layout *layout = layout_of(text);
    const Value *value = &text->bundle->value;
    ApMat *v = &text->v;
    ap_zero(v);
    for (size_t b = 0; b < value->write.count; b++) {
        size_t column = value->write.first + b;
        for (size_t a = 0; value_width(value) > 0 && a < value->read.count; a++) {
            content_value(text, ap_at(v, value->read.first + a, column), value, a, b);
        }
        for (size_t i = 0; i < token_columns(layout); i++) {
            position_value(text, ap_at(v, token_column(layout, i), column), value, b);
        }
    }
    for (size_t a = 0; value->diagonal != 0 && a < value->read.count; a++) {
        mpfr_ptr entry = ap_at(v, value->read.first + a, value->read.first + a);
        mpfr_add_si(entry, entry, value->diagonal, MPFR_RNDN);
    }
}

/* ---- softmax_rows(X Q X^T) X V -------------------------------------------------------------- */

/* text->in: the keys that row i's softmax is over; in the limit those with the largest coefficient
 * of Omega alone. */
static void find_keys(Text *text, size_t i)
{
    const Layout *layout = layout_of(text);
    const Score *score = &text->bundle->score;
    int best = INT_MIN;
    for (size_t j = 0; j < text->rows; j++) {
        int position = score_position(layout, score, text->head, i, j);
        text->in[j] = score_sees(layout, score, i, j);
        best = text->in[j] && position > best ? position : best;
    }
    for (size_t j = 0; text->run->limit && j < text->rows; j++) {
        text->in[j] = text->in[j] && score_position(layout, score, text->head, i, j) == best;
    }
}

/* Row i of the pattern. */
static void softmax_row(Text *text, size_t i)
{
    bool any = false;
    find_keys(text, i);
    for (size_t j = 0; j < text->rows; j++) {
        mpfr_ptr s = ap_at(&text->pattern, i, j);
        mpfr_set_zero(s, 1);
        for (size_t c = 0; text->in[j] && c < text->width; c++) {
            mpfr_fma(s, ap_at(&text->xq, i, c), ap_at(&text->x, j, c), s, MPFR_RNDN);
        }
        if (text->in[j] && (!any || mpfr_cmp(s, text->top) > 0)) {
            mpfr_set(text->top, s, MPFR_RNDN);
            any = true;
        }
    }
    mpfr_set_zero(text->total, 1);
    for (size_t j = 0; j < text->rows; j++) {
        mpfr_ptr p = ap_at(&text->pattern, i, j);
        if (text->in[j]) {
            mpfr_sub(p, p, text->top, MPFR_RNDN);
            mpfr_exp(p, p, MPFR_RNDN);
            mpfr_add(text->total, text->total, p, MPFR_RNDN);
        }
    }
    for (size_t j = 0; j < text->rows; j++) {
        mpfr_ptr p = ap_at(&text->pattern, i, j);
        mpfr_div(p, p, text->total, MPFR_RNDN);
    }
}

/* 2^this is more than any entry. */
static mpfr_exp_t largest_exponent(const ApMat *m)
{
    mpfr_exp_t most = 0;
    for (size_t i = 0; i < m->rows * m->columns; i++) {
        bool larger = mpfr_regular_p(m->entry + i) && mpfr_get_exp(m->entry + i) > most;
        most = larger ? mpfr_get_exp(m->entry + i) : most;
    }
    return most;
}

/* Q, once more with more bits where scores are large. */
static void prepare(Text *text)
{
    fill_q(text);
    mpfr_exp_t terms = largest_exponent(&text->q) + 2 * largest_exponent(&text->x) + 32;
    mpfr_prec_t bits = text->run->bits + terms;
    assert_true(terms <= MOST_EXPONENT);
    if (bits > text->q.bits) {
        text_clear(text);
        text_init(text, bits);
        fill_q(text);
    }
}

static void add_head(Text *text)
{
    prepare(text);
    fill_v(text);
    mat_mul(&text->xq, &text->x, &text->q);
    for (size_t i = 0; i < text->rows; i++) {
        softmax_row(text, i);
    }
    mat_mul(&text->px, &text->pattern, &text->x);
    mat_mul(&text->xq, &text->px, &text->v);
    for (size_t i = 0; i < text->rows * text->width; i++) {
        mpfr_add(text->delta.entry + i, text->delta.entry + i, text->xq.entry + i, MPFR_RNDN);
    }
}

/* The stream, or what stands in its place, with the columns that biases ride on. */
static void read_stream(Text *text, const ApMat *stream)
{
    const Layout *layout = layout_of(text);
    size_t content = layout_content(layout), bias = layout_bias_row(layout);
    ap_zero(&text->x);
    for (size_t i = 0; i < text->rows; i++) {
        for (size_t c = 0; c < content; c++) {
            mpfr_set(ap_at(&text->x, i, c), ap_at(stream, i, c), MPFR_RNDN);
        }
        bool one_hot = has_positions(layout);
        mpfr_set_ui(ap_at(&text->x, i, one_hot ? content + i : content), one_hot || i != bias,
                    MPFR_RNDN);
    }
}

/* run->stream += what the sublayer's heads write, which is nothing in those columns. */
static void add_heads(RefRun *run, const Sublayer *sublayer)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout);
    Text text = {.run = run,
                 .rows = layout_rows(layout),
                 .width = layout_width(layout) + (layout->bias_row == BIAS_ROW_NONE)};
    ap_init(&text.x, text.rows, text.width, run->bits);
    ap_init(&text.delta, text.rows, text.width, run->bits + 64);
    text.in = calloc(text.rows, sizeof *text.in);
    assert_non_null(text.in);
    text_init(&text, run->bits);
    read_stream(&text, run->input);
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        text.bundle = &sublayer->bundles[b];
        for (text.head = 0; text.head < text.bundle->heads; text.head++) {
            add_head(&text);
        }
    }
    for (size_t i = 0; i < text.rows; i++) {
        for (size_t c = 0; c < content; c++) {
            mpfr_ptr entry = ap_at(&run->stream, i, c);
            mpfr_add(entry, entry, ap_at(&text.delta, i, c), MPFR_RNDN);
        }
        for (size_t c = content; c < text.width; c++) {
            assert_true(mpfr_zero_p(ap_at(&text.delta, i, c)));
        }
    }
    text_clear(&text);
    ap_clear(&text.x);
    ap_clear(&text.delta);
    free(text.in);
}

/* ---- A layer norm --------------------------------------------------------------------------- */

/*     y = gamma (x - mean(x)) / sqrt(mean(x^2) - mean(x)^2 + eps) + beta,
 * with beta on the rows that are tokens. */

/* mean(x) and mean(x^2) over the norm's columns, in more digits than x has: the second less the
 * square of the first loses as many as an entry has at most. */
static void moments(mpfr_ptr mean, mpfr_ptr squares, const LayerNorm *norm, mpfr_srcptr x)
{
    mpfr_set_zero(mean, 1);
    mpfr_set_zero(squares, 1);
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_add(mean, mean, x + c, MPFR_RNDN);
        mpfr_fma(squares, x + c, x + c, squares, MPFR_RNDN);
    }
    mpfr_div_ui(mean, mean, norm->columns.count, MPFR_RNDN);
    mpfr_div_ui(squares, squares, norm->columns.count, MPFR_RNDN);
}

static void normalise_row(const LayerNorm *norm, bool token, mpfr_ptr row)
{
    mpfr_ptr x = row + norm->columns.first;
    mpfr_t mean, root, t;
    mpfr_inits2(2 * mpfr_get_prec(x) + 128, mean, root, t, (mpfr_ptr)0);
    moments(mean, root, norm, x);
    if (norm->kind == NORMALIZATION_RMSNORM) {
        mpfr_set_zero(mean, 1);
    }
    mpfr_sqr(t, mean, MPFR_RNDN);
    mpfr_sub(root, root, t, MPFR_RNDN);
    mpfr_add_d(root, root, norm->eps, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_sub(t, x + c, mean, MPFR_RNDN);
        mpfr_mul_d(t, t, norm->gamma[c], MPFR_RNDN);
        mpfr_div(t, t, root, MPFR_RNDN);
        mpfr_add_d(t, t, token && norm->beta != NULL ? norm->beta[c] : 0, MPFR_RNDN);
        mpfr_set(x + c, t, MPFR_RNDN);
    }
    mpfr_clears(mean, root, t, (mpfr_ptr)0);
}

/* y = norm(x); y may be x. */
static void normalise(const Layout *layout, const LayerNorm *norm, const ApMat *x, ApMat *y)
{
    size_t bias = layout_bias_row(layout);
    for (size_t i = 0; y != x && i < x->rows * x->columns; i++) {
        mpfr_set(y->entry + i, x->entry + i, MPFR_RNDN);
    }
    for (size_t row = 0; row < x->rows; row++) {
        if (!norm->tokens_only || row != bias) {
            normalise_row(norm, row != bias, ap_at(y, row, 0));
        }
    }
}

/* ---- A layer -------------------------------------------------------------------------------- */

static void sublayer_by_definition(RefRun *run, const Sublayer *sublayer)
{
    const Layout *layout = &run->model->layout;
    bool direct = sublayer->bundle_count == 0;
    run->input = &run->stream;
    if (direct && sublayer->direct.kind == DIRECT_NORM) {
        normalise(layout, &sublayer->norm, &run->stream, &run->stream);
        return;
    }
    if (sublayer->norm.kind != NORMALIZATION_NONE) {
        normalise(layout, &sublayer->norm, &run->stream, &run->scratch.normed);
        run->input = &run->scratch.normed;
    }
    if (direct) {
        direct_operate(run, &sublayer->direct, false);
    } else {
        add_heads(run, sublayer);
    }
}

void textbook_layer(RefRun *run)
{
    const Model *model = run->model;
    for (; run->next.sublayer < model->layer_end[run->next.layer]; run->next.sublayer++) {
        sublayer_by_definition(run, &model->sublayers[run->next.sublayer]);
    }
    run->next.layer++;
}

RefRun *textbook_layers(const Model *model, const double *x, const double *bias_row_content,
                        double omega, mpfr_prec_t bits, size_t layers)
{
    RefRun *run = ref_run_open(&(Start){model, x, bias_row_content, omega}, bits);
    for (size_t l = 0; l < layers; l++) {
        textbook_layer(run);
    }
    return run;
}
