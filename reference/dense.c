/*
 * A bundle of heads by its definition: the full matrices Q and V [D', D'] of each head, and
 * softmax_rows(X Q X^T) X V.  Slow, and the text that the structured form must agree with.
 */
#include "run.h"

#include <math.h>
#include <stdint.h>

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

/* m[first_a + a, first_b + b] = scale * q_h, or scale * q_h k_h^T. */
static void fill_bilinear(RefRun *run, const Score *score, size_t h)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    const double *q = score->q.data + h * score->q.head_stride;
    const double *k = score->d_head > 0 ? score->k.data + h * score->k.head_stride : NULL;
    for (size_t a = 0; a < score->read.count; a++) {
        for (size_t b = 0; b < score->read.count; b++) {
            mpfr_ptr entry = ap_at(&run->scratch.q, score->read.first + a, score->read.first + b);
            if (k == NULL) {
                mpfr_set_d(entry, q[a * score->q.ld + b], MPFR_RNDN);
            }
            for (size_t r = 0; r < score->d_head; r++) {
                mpfr_set_d(t, q[a * score->q.ld + r], MPFR_RNDN);
                mpfr_mul_d(t, t, k[b * score->k.ld + r], MPFR_RNDN);
                mpfr_add(entry, entry, t, MPFR_RNDN);
            }
            run_apply_scale(entry, &score->scale, t);
        }
    }
}

/* Q[c, p_i] = g[c] for tokens i, Q[p_j, p_i] = gate bias for tokens i and j. */
static void fill_gate(RefRun *run, const Score *score, size_t h)
{
    const Layout *layout = &run->model->layout;
    ApMat *q = &run->scratch.q;
    size_t content = layout_content(layout);
    for (size_t i = 0; i < layout->n; i++) {
        size_t p_i = content + layout_token_row(layout, i);
        if (score->gate.data == NULL) {
            mpfr_set_si(ap_at(q, score->read.first + h, p_i), score->gate_unit, MPFR_RNDN);
        }
        for (size_t c = 0; score->gate.data != NULL && c < score->read.count; c++) {
            mpfr_set_d(ap_at(q, score->read.first + c, p_i),
                       score->gate.data[h * score->gate.head_stride + c * score->gate.ld],
                       MPFR_RNDN);
        }
        for (size_t j = 0; score->gate_bias != NULL && j < layout->n; j++) {
            mpfr_set_d(ap_at(q, content + layout_token_row(layout, j), p_i), score->gate_bias[h],
                       MPFR_RNDN);
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

/* Q[p_i, p_j] += coefficient * Omega. */
static void add_omega(RefRun *run, const Score *score)
{
    const Layout *layout = &run->model->layout;
    size_t content = layout_content(layout);
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    for (size_t i = 0; layout->bias_row != BIAS_ROW_NONE && i < run->stream.rows; i++) {
        for (size_t j = 0; j < run->stream.rows; j++) {
            mpfr_ptr entry = ap_at(&run->scratch.q, content + i, content + j);
            mpfr_set_d(t, run->omega, MPFR_RNDN);
            mpfr_mul_si(t, t, layout_position_score(layout, &score->position, i, j), MPFR_RNDN);
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
}

/* What a token position row of V carries in column b of those written. */
static void position_value(RefRun *run, mpfr_ptr entry, const Value *value, size_t h, size_t b)
{
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0);
    mpfr_set_zero(entry, 1);
    if (value->bias != NULL && h == 0) {
        mpfr_set_d(entry, value->bias[b], MPFR_RNDN);
    }
    for (size_t r = 0; value->inner_bias != NULL && r < value->d_head; r++) {
        mpfr_set_d(t, value->inner_bias[h * value->d_head + r], MPFR_RNDN);
        mpfr_mul_d(t, t, value->o.data[h * value->o.head_stride + r * value->o.ld + b], MPFR_RNDN);
        mpfr_add(entry, entry, t, MPFR_RNDN);
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
        for (size_t i = 0; layout->bias_row != BIAS_ROW_NONE && i < layout->n; i++) {
            size_t p_i = layout_content(layout) + layout_token_row(layout, i);
            position_value(run, ap_at(v, p_i, column), value, h, b);
        }
    }
    for (size_t a = 0; value->diagonal != 0 && a < value->read.count; a++) {
        mpfr_ptr entry = ap_at(v, value->read.first + a, value->read.first + a);
        mpfr_add_si(entry, entry, value->diagonal, MPFR_RNDN);
    }
}

/* scratch.pattern row i: X Q X^T, then softmax over the keys that i sees; in the limit over
 * those with the largest coefficient of Omega alone. */
static void softmax_row(RefRun *run, const Score *score, size_t i)
{
    const Layout *layout = &run->model->layout;
    size_t rows = run->stream.rows, seen = 0;
    mpfr_ptr t = ap_at(&run->scratch.temp, 0, 0), total = ap_at(&run->scratch.temp, 0, 1);
    mpfr_ptr top = ap_at(&run->scratch.temp, 0, 2);
    int best = layout_position_score(layout, &score->position, i, i);
    for (size_t j = 0; j < rows; j++) {
        int k = layout_position_score(layout, &score->position, i, j);
        best = run_sees(score, i, j) && k > best ? k : best;
    }
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr s = ap_at(&run->scratch.pattern, i, j);
        bool in_limit = layout_position_score(layout, &score->position, i, j) == best;
        mpfr_set_nan(s);
        if (!run_sees(score, i, j) || (run->limit && !in_limit)) {
            continue;
        }
        ap_dot(s, ap_at(&run->scratch.xq, i, 0), ap_at(&run->stream, j, 0), run->stream.columns, t);
        if (seen++ == 0 || mpfr_cmp(s, top) > 0) {
            mpfr_set(top, s, MPFR_RNDN);
        }
        if (layout->bias_row == BIAS_ROW_NONE && mpfr_cmpabs(s, run->score_max) > 0) {
            mpfr_abs(run->score_max, s, MPFR_RNDN);
        }
    }
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr s = ap_at(&run->scratch.pattern, i, j);
        if (mpfr_nan_p(s)) {
            mpfr_set_zero(s, 1);
            continue;
        }
        mpfr_sub(s, s, top, MPFR_RNDN);
        ap_exp(run->exp, s, s);
        mpfr_add(total, total, s, MPFR_RNDN);
    }
    for (size_t j = 0; j < rows; j++) {
        mpfr_ptr s = ap_at(&run->scratch.pattern, i, j);
        mpfr_div(s, s, total, MPFR_RNDN);
    }
}

void run_dense_bundle(RefRun *run, const Bundle *bundle)
{
    RunScratch *s = &run->scratch;
    mpfr_ptr t = ap_at(&s->temp, 0, 0);
    for (size_t h = 0; h < bundle->heads; h++) {
        fill_q(run, &bundle->score, h);
        if (!run->limit) {
            add_omega(run, &bundle->score);
        }
        fill_v(run, &bundle->value, h);
        mat_mul(&s->xq, &run->stream, &s->q, t);
        for (size_t i = 0; i < run->stream.rows; i++) {
            softmax_row(run, &bundle->score, i);
        }
        mat_mul(&s->px, &s->pattern, &run->stream, t);
        mat_mul(&s->xq, &s->px, &s->v, t);
        for (size_t i = 0; i < run->delta.rows * run->delta.columns; i++) {
            mpfr_add(run->delta.entry + i, run->delta.entry + i, s->xq.entry + i, MPFR_RNDN);
        }
    }
}
