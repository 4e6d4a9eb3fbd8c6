/*
 * A bundle of heads by its definition: the full matrices Q and V [D', D'] of each head, and
 * softmax_rows(X Q X^T) X V.  Slow, and the text that the structured form must agree with.
 */
#include "doubt.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Of scratch.high, behind a row's scores. */
enum { HIGH_TERM, HIGH_ENTRY, HIGH_TOP, HIGH_TEMPS };

/* Scores beyond 2^this are refused. */
enum { MOST_EXPONENT = 1 << 24 };

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
static void spread(RefRun *run, const Score *score, size_t a, size_t b, mpfr_srcptr entry)
{
    const Layout *layout = &run->model->layout;
    size_t tokens = token_columns(layout), count = score->read.count;
    for (size_t i = 0; i < (a < count ? 1 : tokens); i++) {
        for (size_t j = 0; j < (b < count ? 1 : tokens); j++) {
            size_t row = a < count ? score->read.first + a : token_column(layout, i);
            size_t column = b < count ? score->read.first + b : token_column(layout, j);
            mpfr_set(ap_at(&run->scratch.q, row, column), entry, MPFR_RNDN);
        }
    }
}

/* scale * q_h, or scale * (q_h; q_bias) (k_h; k_bias)^T. */
static void fill_bilinear(RefRun *run, const Score *score, size_t h)
{
    size_t high = run->stream.rows;
    mpfr_ptr t = ap_at(&run->scratch.high, 0, high + HIGH_TERM);
    mpfr_ptr entry = ap_at(&run->scratch.high, 0, high + HIGH_ENTRY);
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
            run_apply_scale(entry, &score->scale, t);
            spread(run, score, a, b, entry);
        }
    }
}

/* Q[c, p_i] = a g[c] for tokens i, Q[p_j, p_i] = a (gate bias) for tokens i and j. */
static void fill_gate(RefRun *run, const Score *score, size_t h)
{
    const Layout *layout = &run->model->layout;
    ApMat *q = &run->scratch.q;
    mpfr_ptr t = ap_at(&run->scratch.high, 0, run->stream.rows + HIGH_TERM);
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
    }
}

/* scratch.q = Q of head h, without Omega. */
static void fill_q(RefRun *run, const Score *score, size_t h)
{
    ap_zero(&run->scratch.q);
    if (score->kind == SCORE_BILINEAR) {
        fill_bilinear(run, score, h);
    } else if (score->kind == SCORE_GATE) {
        fill_gate(run, score, h);
    }
}

/* Q[p_i, p_j] += coefficient * Omega, where there are position columns. */
static void add_omega(RefRun *run, const Score *score, size_t h)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout);
    mpfr_ptr t = ap_at(&run->scratch.high, 0, run->stream.rows + HIGH_TERM);
    bool positions = layout->bias_row != BIAS_ROW_NONE && layout->bias_row != BIAS_ROW_MASKED;
    for (size_t i = 0; positions && i < run->stream.rows; i++) {
        for (size_t j = 0; j < run->stream.rows; j++) {
            mpfr_ptr entry = ap_at(&run->scratch.q, content + i, content + j);
            mpfr_set_d(t, run->omega, MPFR_RNDN);
            mpfr_mul_si(t, t, run_position(run, score, h, i, j), MPFR_RNDN);
            mpfr_add(entry, entry, t, MPFR_RNDN);
        }
    }
}

/* The content block of V: entry (a, b) of V_h's [read, write] block. */
static void content_value(RefRun *run, mpfr_ptr entry, const Value *value, size_t h, size_t a,
                          size_t b)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    mpfr_set_zero(entry, 1);
    if (value->kind == VALUE_UNIT && a == h && b == h) {
        mpfr_set_si(entry, value->unit, MPFR_RNDN);
    } else if (value->kind == VALUE_DENSE) {
        mpfr_set_d(entry, value->v.data[h * value->v.head_stride + a * value->v.ld + b], MPFR_RNDN);
    }
    for (size_t r = 0; value->kind == VALUE_FACTORED && r < value->d_head; r++) {
        mpfr_set_d(t, value->v.data[h * value->v.head_stride + a * value->v.ld + r], MPFR_RNDN);
        mpfr_mul_d(t, t, value->o.data[h * value->o.head_stride + r * value->o.ld + b], MPFR_RNDN);
        mpfr_add(entry, entry, t, MPFR_RNDN);
    }
    if (value->kind == VALUE_UNIT || value->kind == VALUE_FACTORED) {
        mpfr_mul_d(entry, entry, value->scale, MPFR_RNDN);
    }
}

/* What a token column's row of V carries in column b of those written. */
static void position_value(RefRun *run, mpfr_ptr entry, const Value *value, size_t h, size_t b)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
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

/* scratch.v = V of head h. */
static void fill_v(RefRun *run, const Value *value, size_t h)
{
    const Layout *layout = &run->model->layout;
    ApMat *v = &run->scratch.v;
    ap_zero(v);
    for (size_t b = 0; b < value->write.count; b++) {
        size_t column = value->write.first + b;
        for (size_t a = 0; value->kind != VALUE_NONE && a < value->read.count; a++) {
            content_value(run, ap_at(v, value->read.first + a, column), value, h, a, b);
        }
        for (size_t i = 0; i < token_columns(layout); i++) {
            position_value(run, ap_at(v, token_column(layout, i), column), value, h, b);
        }
    }
    for (size_t a = 0; value->diagonal != 0 && a < value->read.count; a++) {
        mpfr_ptr entry = ap_at(v, value->read.first + a, value->read.first + a);
        mpfr_add_si(entry, entry, value->diagonal, MPFR_RNDN);
    }
}

/* scratch.high: the scores of row i, X Q X^T, that softmax is over: those that i sees, in the limit
 * those with the largest coefficient of Omega alone.  top: the largest. */
static void score_row(RefRun *run, const Score *score, size_t h, size_t i, bool *in, mpfr_ptr top)
{
    const Layout *layout = &run->model->layout;
    ApMat *high = &run->scratch.high;
    size_t rows = run->stream.rows, seen = 0;
    int best = run_best_position(run, score, h, i);
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr s = ap_at(high, 0, j);
        bool in_limit = run_position(run, score, h, i, j) == best;
        in[j] = run_sees(run, score, i, j) && (!run->limit || in_limit);
        if (!in[j]) {
            continue;
        }
        ap_dot(s, ap_at(&run->scratch.xq, i, 0), ap_at(&run->stream, j, 0), run->stream.columns,
               ap_at(high, 0, rows + HIGH_TERM));
        if (seen++ == 0 || mpfr_cmp(s, top) > 0) {
            mpfr_set(top, s, MPFR_RNDN);
        }
        if (layout->bias_row == BIAS_ROW_NONE && mpfr_cmpabs(s, run->score_max) > 0) {
            mpfr_abs(run->score_max, s, MPFR_RNDN);
        }
    }
}

/* scratch.pattern row i: softmax of the scores. */
static void softmax_row(RefRun *run, const Score *score, size_t h, size_t i, bool *in)
{
    size_t rows = run->stream.rows;
    mpfr_ptr total = ap_at(&run->scratch.temp, 0, 1);
    mpfr_ptr top = ap_at(&run->scratch.high, 0, rows + HIGH_TOP);
    score_row(run, score, h, i, in, top);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr p = ap_at(&run->scratch.pattern, i, j), s = ap_at(&run->scratch.high, 0, j);
        mpfr_set_zero(p, 1);
        if (in[j]) {
            mpfr_sub(s, s, top, MPFR_RNDN);
            ap_exp(run->exp, p, s);
            mpfr_add(total, total, p, MPFR_RNDN);
        }
    }
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr p = ap_at(&run->scratch.pattern, i, j);
        mpfr_div(p, p, total, MPFR_RNDN);
    }
}

/* Precision of scores: as many bits behind the point as run.bits has where their terms are of size
 * 1, however large they are. */
static bool prepare_high(RefRun *run, const Heads *heads)
{
    RunScratch *s = &run->scratch;
    size_t rows = run->stream.rows, width = run->stream.columns;
    double terms = doubt_exponent(run, heads);
    mpfr_prec_t bits = run->bits;
    if (terms > 0) {
        if (terms > MOST_EXPONENT) {
            mpfr_set_nanflag(); /* out of reach: refused */
            return true;
        }
        bits += (mpfr_prec_t)terms + 8;
    }
    if (s->high.entry != NULL && bits <= s->high.bits) {
        return true;
    }
    ap_clear(&s->high);
    ap_clear(&s->q);
    ap_clear(&s->xq);
    return ap_init(&s->high, 1, rows + HIGH_TEMPS, bits) && ap_init(&s->q, width, width, bits) &&
           ap_init(&s->xq, rows, width, bits);
}

static void dense_head(RefRun *run, const Bundle *bundle, size_t h, bool *in)
{
    RunScratch *s = &run->scratch;
    mpfr_ptr t = ap_at(&s->temp, 0, 0);
    fill_q(run, &bundle->score, h);
    if (!run->limit) {
        add_omega(run, &bundle->score, h);
    }
    fill_v(run, &bundle->value, h);
    mat_mul(&s->xq, &run->stream, &s->q, ap_at(&s->high, 0, run->stream.rows + HIGH_TERM));
    for (size_t i = 0; i < run->stream.rows; i++) {
        softmax_row(run, &bundle->score, h, i, in);
    }
    mat_mul(&s->px, &s->pattern, &run->stream, t);
    mat_mul(&s->xq, &s->px, &s->v, t);
    for (size_t i = 0; i < run->delta.rows * run->delta.columns; i++) {
        mpfr_add(run->delta.entry + i, run->delta.entry + i, s->xq.entry + i, MPFR_RNDN);
    }
}

void run_dense_bundle(RefRun *run, const Bundle *bundle)
{
    const Heads all = {&bundle->score, 0, bundle->heads};
    bool *in = calloc(run->stream.rows, sizeof *in); /* what softmax is over */
    if (in == NULL || !prepare_high(run, &all)) {
        run_fail(run);
    }
    for (size_t h = 0; !run->failed && h < bundle->heads; h++) {
        dense_head(run, bundle, h, in);
    }
    free(in);
}
