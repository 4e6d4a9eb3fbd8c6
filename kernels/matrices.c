/*
 * The full matrices Q and V of a head on the augmented stream, for the dense form.
 */
#include "matrices.h"

#include "blas.h"

#include <stdint.h>
#include <string.h>

/* What rides on position rows or columns of the tokens is one row or column, n times. */
static void repeat_row(double *row, size_t ld, size_t n, size_t width)
{
    for (size_t i = 1; i < n; i++) {
        memcpy(row + i * ld, row, width * sizeof *row);
    }
}

static void repeat_column(double *column, size_t ld, size_t n, size_t height)
{
    for (size_t r = 0; r < height; r++) {
        for (size_t i = 1; i < n; i++) {
            column[r * ld + i] = column[r * ld];
        }
    }
}

/* The row or column of token 0. */
static size_t first_position(const Layout *layout)
{
    return layout_token_column(layout, 0);
}

static void fill_gate(double *q, size_t ld, const Layout *layout, const Score *score, size_t head)
{
    double *column = q + score->read.first * ld + first_position(layout);
    for (size_t r = 0; r < score->read.count; r++) {
        double entry = score->gate.data == NULL
                           ? (r == head ? (double)score->gate_unit : 0.0)
                           : head_weight(score->gate, head).data[r * score->gate.ld];
        column[r * ld] = score->gate_scale * entry;
    }
    repeat_column(column, ld, layout_token_columns(layout), score->read.count);
}

static void fill_bilinear(double *q, size_t ld, const Score *score, size_t head)
{
    size_t count = score->read.count;
    double *block = q + score->read.first * ld + score->read.first;
    double scale = scale_value(score->scale);
    HeadWeight left = head_weight(score->q, head);
    if (score->d_head > 0) {
        HeadWeight right = head_weight(score->k, head);
        blas_gemm_nt(block, ld, left.data, left.ld, right.data, right.ld, count, count,
                     score->d_head, scale, 0.0);
        return;
    }
    for (size_t r = 0; r < count; r++) {
        for (size_t c = 0; c < count; c++) {
            block[r * ld + c] = scale * left.data[r * left.ld + c];
        }
    }
}

/* q_bias k_h^T on the position rows of the tokens, q_h k_bias^T on their columns. */
static void fill_bilinear_biases(double *q, size_t ld, const Layout *layout, const Score *score,
                                 size_t head)
{
    size_t count = score->read.count, depth = score->d_head, first = first_position(layout);
    double scale = scale_value(score->scale);
    bool biased = score->q_bias != NULL || score->k_bias != NULL;
    KERNEL_CHECK(!biased || layout->bias_row != BIAS_ROW_NONE);
    if (score->q_bias != NULL) {
        double *row = q + first * ld + score->read.first;
        HeadWeight right = head_weight(score->k, head);
        blas_gemm_nt(row, ld, score->q_bias + head * depth, depth, right.data, right.ld, 1, count,
                     depth, scale, 0.0);
        repeat_row(row, ld, layout_token_columns(layout), count);
    }
    if (score->k_bias != NULL) {
        double *column = q + score->read.first * ld + first;
        HeadWeight left = head_weight(score->q, head);
        blas_gemm_nt(column, ld, left.data, left.ld, score->k_bias + head * depth, depth, count, 1,
                     depth, scale, 0.0);
        repeat_column(column, ld, layout_token_columns(layout), count);
    }
}

/* What the biases alone add to a token's score toward a token. */
static double score_bias(const Score *score, size_t head)
{
    double product = 0;
    if (score->kind == SCORE_GATE && score->gate_bias != NULL) {
        return score->gate_scale * score->gate_bias[head];
    }
    if (score->kind == SCORE_BILINEAR && score->q_bias != NULL && score->k_bias != NULL) {
        size_t depth = score->d_head;
        blas_gemm_nt(&product, 1, score->q_bias + head * depth, depth, score->k_bias + head * depth,
                     depth, 1, 1, depth, scale_value(score->scale), 0.0);
    }
    return product;
}

/* The position columns' block: its row and column a stand for row a of the stream. */
static void fill_position(double *q, size_t ld, const Layout *layout, const Score *score,
                          double omega, size_t head)
{
    const PositionScores *position = &score->position;
    double of_biases = score_bias(score, head);
    double self = position->token_self * omega + of_biases;
    double token = position->token_token * omega + of_biases;
    size_t rows = layout_rows(layout), bias = layout_bias_row(layout);
    double *block = q + layout_content(layout) * (ld + 1);
    if (layout->bias_row == BIAS_ROW_MASKED) {
        *block = of_biases;
        return;
    }
    for (size_t a = 0; a < rows; a++) {
        double *row = block + a * ld;
        for (size_t b = 0; b < rows; b++) {
            row[b] = a == bias ? position->bias_token * omega : token;
        }
        row[a] = self;
        row[bias] = (a == bias ? position->bias_self : position->token_bias) * omega;
    }
    for (size_t e = 0; score->extra != NULL && e < rows * rows; e++) {
        size_t a = e / rows, b = e % rows;
        block[a * ld + b] = score_position(layout, score, head, a, b) * omega +
                            (a != bias && b != bias ? of_biases : 0);
    }
}

/* Has a head position scores of its own: from its biases, or extra ones? */
static bool position_differs(const Score *score)
{
    bool biased = score->kind == SCORE_GATE ? score->gate_bias != NULL
                                            : score->q_bias != NULL && score->k_bias != NULL;
    return biased || (score->extra != NULL && score->extra_stride > 0);
}

void matrices_fill_q(double *q, size_t ld, const Layout *layout, const Score *score, double omega,
                     size_t head, bool fresh)
{
    if (score->kind == SCORE_GATE) {
        fill_gate(q, ld, layout, score, head);
    } else if (score->kind == SCORE_BILINEAR) {
        fill_bilinear(q, ld, score, head);
        fill_bilinear_biases(q, ld, layout, score, head);
    }
    if (layout->bias_row != BIAS_ROW_NONE && (fresh || position_differs(score))) {
        fill_position(q, ld, layout, score, omega, head);
    }
}

/* scale v_h o_h of rank one: what dgemm computes, without its overhead. */
static void fill_outer(double *block, size_t ld, const Value *value, size_t head)
{
    HeadWeight left = head_weight(value->v, head);
    const double *row = head_weight(value->o, head).data;
    for (size_t r = 0; r < value->read.count; r++) {
        double factor = left.data[r * left.ld], *to = block + r * ld;
#pragma omp simd
        for (size_t c = 0; c < value->write.count; c++) {
            to[c] = value->scale * (factor * row[c]);
        }
    }
}

static void fill_value(double *v, size_t ld, const Value *value, size_t head, size_t heads)
{
    size_t from = value->read.count, to = value->write.count;
    double *block = v + value->read.first * ld + value->write.first;
    if (value->kind == VALUE_UNIT) {
        for (size_t h = 0; h < heads; h++) {
            block[h * (ld + 1)] = h == head ? value->scale * value->unit : 0;
        }
    } else if (value->kind == VALUE_FACTORED && value->d_head == 1) {
        fill_outer(block, ld, value, head);
    } else if (value->kind == VALUE_FACTORED) {
        HeadWeight left = head_weight(value->v, head), right = head_weight(value->o, head);
        blas_gemm(block, ld, left.data, left.ld, right.data, right.ld, from, to, value->d_head,
                  value->scale, 0.0);
    } else if (value->kind == VALUE_DENSE) {
        HeadWeight matrix = head_weight(value->v, head);
        for (size_t r = 0; r < from; r++) {
            memcpy(block + r * ld, matrix.data + r * matrix.ld, to * sizeof *block);
        }
    }
}

static void fill_value_bias(double *v, size_t ld, const Layout *layout, const Value *value,
                            size_t head)
{
    bool inner = value->kind == VALUE_FACTORED && value->inner_bias != NULL;
    bool outer = value->bias != NULL;
    if (!inner && !outer) {
        return;
    }
    KERNEL_CHECK(layout->bias_row != BIAS_ROW_NONE);
    size_t to = value->write.count;
    double *row = v + first_position(layout) * ld + value->write.first;
    memset(row, 0, to * sizeof *row);
    if (inner) {
        HeadWeight right = head_weight(value->o, head);
        blas_gemm(row, ld, value->inner_bias + head * value->d_head, value->d_head, right.data,
                  right.ld, 1, to, value->d_head, value->scale, 0.0);
    }
    for (size_t c = 0; outer && head == 0 && c < to; c++) {
        row[c] += value->bias[c];
    }
    repeat_row(row, ld, layout_token_columns(layout), to);
}

void matrices_fill_v(double *v, size_t ld, const Layout *layout, const Bundle *bundle, size_t head)
{
    const Value *value = &bundle->value;
    fill_value(v, ld, value, head, bundle->heads);
    fill_value_bias(v, ld, layout, value, head);
    for (size_t c = 0; value->diagonal != 0 && c < value->read.count; c++) {
        v[(value->read.first + c) * (ld + 1)] += value->diagonal;
    }
}
