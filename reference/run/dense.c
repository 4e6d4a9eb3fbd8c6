/*
 * A bundle of heads by its definition: the full matrices Q and V [D', D'] of each head, and
 * softmax_rows(X Q X^T) X V.  Slow, and the text that the structured form must agree with.
 */
#include "dense.h"

#include "../../memory/need.h"

#include <math.h>
#include <stdlib.h>

/* Of dense.high, behind a row's scores. */
enum { HIGH_TERM, HIGH_ENTRY, HIGH_TOP, HIGH_TEMPS };

/* Scores beyond 2^this are refused. */
enum { MOST_EXPONENT = 1 << 24 };

/* One evaluation of a bundle's heads at x. */
typedef struct {
    Evaluator *ev;
    Dense *dense;
    const Heads *heads;
    const ApMat *x;
} Bundled;

/* m = a b; t is scratch. */
static void mat_mul(ApMat *m, const ApMat *a, const ApMat *b, mpfr_ptr t)
{
    ap_zero(m);
    for (size_t i = 0; i < m->rows; i++) {
        for (size_t k = 0; k < a->columns; k++) {
            ap_axpy(ap_at(m, i, 0), ap_at(a, i, k), ap_at(b, k, 0), m->columns, t);
        }
    }
}

/* Column i of the stream that a bias rides on, i < token_columns: a token's position column, or
 * the constant column that the dense stream of an original has. */
static size_t token_columns(const Layout *layout)
{
    return layout->bias_row == BIAS_ROW_NONE ? 1 : layout_token_columns(layout);
}

static size_t token_column(const Layout *layout, size_t i)
{
    return layout->bias_row == BIAS_ROW_NONE ? layout_content(layout)
                                             : layout_token_column(layout, i);
}

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
static void spread(const Bundled *at, size_t a, size_t b, mpfr_srcptr entry)
{
    const Score *score = &at->heads->bundle->score;
    const Layout *layout = at->heads->layout;
    size_t tokens = token_columns(layout), count = score->read.count;
    for (size_t i = 0; i < (a < count ? 1 : tokens); i++) {
        for (size_t j = 0; j < (b < count ? 1 : tokens); j++) {
            size_t row = a < count ? score->read.first + a : token_column(layout, i);
            size_t column = b < count ? score->read.first + b : token_column(layout, j);
            mpfr_set(ap_at(&at->dense->q, row, column), entry, MPFR_RNDN);
        }
    }
}

/* scale * q_h, or scale * (q_h; q_bias) (k_h; k_bias)^T. */
static void fill_bilinear(const Bundled *at, const Score *score, size_t h)
{
    size_t high = at->x->rows;
    mpfr_ptr t = ap_at(&at->dense->high, 0, high + HIGH_TERM);
    mpfr_ptr entry = ap_at(&at->dense->high, 0, high + HIGH_ENTRY);
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
            heads_apply_scale(entry, 1, &score->scale, t);
            spread(at, a, b, entry);
        }
    }
}

/* Q[c, p_i] = a g[c] for tokens i, Q[p_j, p_i] = a (gate bias) + shift for tokens i and j. */
static void fill_gate(const Bundled *at, const Score *score, size_t h)
{
    const Layout *layout = at->heads->layout;
    ApMat *q = &at->dense->q;
    mpfr_ptr t = ap_at(&at->dense->high, 0, at->x->rows + HIGH_TERM);
    for (size_t i = 0; i < token_columns(layout); i++) {
        size_t p_i = token_column(layout, i);
        for (size_t c = 0; c < score->read.count; c++) {
            double g = score->gate.data != NULL
                           ? score->gate.data[h * score->gate.head_stride + c * score->gate.ld]
                           : (c == h ? score->gate_unit : 0);
            mpfr_set_d(t, g, MPFR_RNDN);
            mpfr_mul_d(ap_at(q, score->read.first + c, p_i), t, score->gate_scale, MPFR_RNDN);
        }
        for (size_t j = 0; score->gate_bias != NULL && j < token_columns(layout); j++) {
            mpfr_set_d(t, score->gate_bias[h], MPFR_RNDN);
            mpfr_mul_d(ap_at(q, token_column(layout, j), p_i), t, score->gate_scale, MPFR_RNDN);
        }
        for (size_t j = 0; score->gate_shift != NULL && j < token_columns(layout); j++) {
            mpfr_ptr entry = ap_at(q, token_column(layout, j), p_i);
            mpfr_add_d(entry, entry, score->gate_shift[h], MPFR_RNDN);
        }
    }
}

/* dense.q = Q of head h, without Omega. */
static void fill_q(const Bundled *at, const Score *score, size_t h)
{
    ap_zero(&at->dense->q);
    if (score_by_key(score)) {
        fill_bilinear(at, score, h);
    } else if (score_by_gate(score)) {
        fill_gate(at, score, h);
    }
}

/* Q[p_i, p_j] += coefficient * Omega, where there are position columns. */
static void add_omega(const Bundled *at, size_t h)
{
    const Layout *layout = at->heads->layout;
    size_t content = layout_content(layout);
    mpfr_ptr t = ap_at(&at->dense->high, 0, at->x->rows + HIGH_TERM);
    bool positions = layout->bias_row != BIAS_ROW_NONE && layout->bias_row != BIAS_ROW_MASKED;
    for (size_t i = 0; positions && i < at->x->rows; i++) {
        for (size_t j = 0; j < at->x->rows; j++) {
            mpfr_ptr entry = ap_at(&at->dense->q, content + i, content + j);
            mpfr_set_d(t, at->ev->omega, MPFR_RNDN);
            mpfr_mul_si(t, t, heads_position(at->heads, h, i, j), MPFR_RNDN);
            mpfr_add(entry, entry, t, MPFR_RNDN);
        }
    }
}

/* The content block of V: entry (a, b) of V_h's [read, write] block. */
static void content_value(const Bundled *at, mpfr_ptr entry, const Value *value, size_t h, size_t a,
                          size_t b)
{
    mpfr_ptr t = ap_at(&at->dense->temp, 0, 0);
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
static void position_value(const Bundled *at, mpfr_ptr entry, size_t h, size_t b)
{
    const Value *value = &at->heads->bundle->value;
    mpfr_ptr t = ap_at(&at->dense->temp, 0, 0);
    mpfr_set_zero(entry, 1);
    for (size_t r = 0; value->inner_bias != NULL && r < value->d_head; r++) {
        mpfr_set_d(t, value->inner_bias[h * value->d_head + r], MPFR_RNDN);
        mpfr_mul_d(t, t, value->o.data[h * value->o.head_stride + r * value->o.ld + b], MPFR_RNDN);
        mpfr_add(entry, entry, t, MPFR_RNDN);
    }
    if (value->inner_bias != NULL) {
        mpfr_mul_d(entry, entry, value->scale, MPFR_RNDN);
    }
    if (value->bias != NULL && h == 0) {
        mpfr_add_d(entry, entry, value->bias[b], MPFR_RNDN);
    }
}

/* dense.v = V of head h. */
static void fill_v(const Bundled *at, const Value *value, size_t h)
{
    const Layout *layout = at->heads->layout;
    ApMat *v = &at->dense->v;
    ap_zero(v);
    for (size_t b = 0; b < value->write.count; b++) {
        size_t column = value->write.first + b;
        for (size_t a = 0; value_width(value) > 0 && a < value->read.count; a++) {
            content_value(at, ap_at(v, value->read.first + a, column), value, h, a, b);
        }
        for (size_t i = 0; i < token_columns(layout); i++) {
            position_value(at, ap_at(v, token_column(layout, i), column), h, b);
        }
    }
    for (size_t a = 0; value->diagonal != 0 && a < value->read.count; a++) {
        mpfr_ptr entry = ap_at(v, value->read.first + a, value->read.first + a);
        mpfr_add_si(entry, entry, value->diagonal, MPFR_RNDN);
    }
}

/* dense.high: the scores of row i, X Q X^T, that softmax is over: those that i sees, in the limit
 * those with the largest coefficient of Omega alone.  top: the largest. */
static void score_row(const Bundled *at, size_t h, size_t i, mpfr_ptr top)
{
    bool *in = at->dense->in;
    const Layout *layout = at->heads->layout;
    ApMat *high = &at->dense->high;
    size_t rows = at->x->rows, seen = 0;
    int best = heads_best_position(at->heads, h, i);
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr s = ap_at(high, 0, j);
        bool in_limit = heads_position(at->heads, h, i, j) == best;
        in[j] = heads_see(at->heads, i, j) && (!at->heads->limit || in_limit);
        if (!in[j]) {
            continue;
        }
        ap_dot(s, ap_at(&at->dense->xq, i, 0), ap_at(at->x, j, 0), at->x->columns,
               ap_at(high, 0, rows + HIGH_TERM));
        if (seen++ == 0 || mpfr_cmp(s, top) > 0) {
            mpfr_set(top, s, MPFR_RNDN);
        }
        if (layout->bias_row == BIAS_ROW_NONE && mpfr_cmpabs(s, at->ev->score_max) > 0) {
            mpfr_abs(at->ev->score_max, s, MPFR_RNDN);
        }
    }
}

/* dense.pattern row i: softmax of the scores. */
static void softmax_row(const Bundled *at, size_t h, size_t i)
{
    const bool *in = at->dense->in;
    size_t rows = at->x->rows;
    mpfr_ptr total = ap_at(&at->dense->temp, 0, 1);
    mpfr_ptr top = ap_at(&at->dense->high, 0, rows + HIGH_TOP);
    score_row(at, h, i, top);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr p = ap_at(&at->dense->pattern, i, j), s = ap_at(&at->dense->high, 0, j);
        mpfr_set_zero(p, 1);
        if (in[j]) {
            mpfr_sub(s, s, top, MPFR_RNDN);
            ap_exp(at->dense->exp, p, s);
            mpfr_add(total, total, p, MPFR_RNDN);
        }
    }
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr p = ap_at(&at->dense->pattern, i, j);
        mpfr_div(p, p, total, MPFR_RNDN);
    }
}

/* Precision of scores: as many bits behind the point as ev->bits has where their terms are of size
 * 1, however large they are. */
static void prepare_high(const Bundled *at)
{
    Dense *dense = at->dense;
    size_t rows = at->x->rows, width = at->x->columns;
    mpfr_exp_t terms = heads_score_exponent(at->heads, at->x);
    mpfr_prec_t bits = at->ev->bits;
    if (terms > 0) {
        if (terms > MOST_EXPONENT) {
            mpfr_set_nanflag(); /* out of reach: refused */
            return;
        }
        bits += terms + 8;
    }
    if (dense->high.entry != NULL && bits <= dense->high.bits) {
        return;
    }
    ap_clear(&dense->high);
    ap_clear(&dense->q);
    ap_clear(&dense->xq);
    ap_init(&dense->high, 1, rows + HIGH_TEMPS, bits);
    ap_init(&dense->q, width, width, bits);
    ap_init(&dense->xq, rows, width, bits);
}

static void add_head(const Bundled *at, size_t h, ApMat *delta)
{
    const Bundle *bundle = at->heads->bundle;
    Dense *dense = at->dense;
    size_t rows = at->x->rows;
    mpfr_ptr t = ap_at(&dense->temp, 0, 0);
    fill_q(at, &bundle->score, h);
    if (!at->heads->limit) {
        add_omega(at, h);
    }
    fill_v(at, &bundle->value, h);
    mat_mul(&dense->xq, at->x, &dense->q, ap_at(&dense->high, 0, rows + HIGH_TERM));
    for (size_t i = 0; i < rows; i++) {
        softmax_row(at, h, i);
    }
    mat_mul(&dense->px, &dense->pattern, at->x, t);
    mat_mul(&dense->xq, &dense->px, &dense->v, t);
    for (size_t i = 0; i < delta->rows * delta->columns; i++) {
        mpfr_add(delta->entry + i, delta->entry + i, dense->xq.entry + i, MPFR_RNDN);
    }
}

void dense_add(const Heads *heads, const ApMat *x, Dense *dense, ApMat *delta)
{
    const Bundled at = {heads->ev, dense, heads, x};
    prepare_high(&at);
    for (size_t h = 0; h < heads->count; h++) {
        add_head(&at, h, delta);
    }
}

size_t dense_width(const Layout *layout)
{
    return layout_width(layout) + (layout->bias_row == BIAS_ROW_NONE);
}

enum { DENSE_MATS = 6 };

static void dense_list(Dense *dense, const Layout *layout, ApExtent list[DENSE_MATS])
{
    size_t rows = layout_rows(layout), width = dense_width(layout);
    list[0] = (ApExtent){&dense->q, width, width};
    list[1] = (ApExtent){&dense->v, width, width};
    list[2] = (ApExtent){&dense->xq, rows, width};
    list[3] = (ApExtent){&dense->px, rows, width};
    list[4] = (ApExtent){&dense->pattern, rows, rows};
    list[5] = (ApExtent){&dense->temp, 1, DENSE_TEMPS};
}

void dense_init(Dense *dense, const Layout *layout, mpfr_prec_t bits)
{
    ApExtent list[DENSE_MATS];
    *dense = (Dense){.exp = ap_exp_create(bits)};
    dense->in = need_zeros(layout_rows(layout), sizeof *dense->in);
    dense_list(dense, layout, list);
    ap_init_list(list, DENSE_MATS, bits);
}

void dense_clear(Dense *dense)
{
    ApMat *const mats[] = {&dense->q,       &dense->v,    &dense->xq,  &dense->px,
                           &dense->pattern, &dense->temp, &dense->high};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++) {
        ap_clear(mats[i]);
    }
    ap_exp_free(dense->exp);
    free(dense->in);
}

double dense_bytes(const Layout *layout, mpfr_prec_t bits)
{
    Dense dense;
    ApExtent list[DENSE_MATS];
    dense_list(&dense, layout, list);
    return ap_bytes_list(list, DENSE_MATS, bits);
}
