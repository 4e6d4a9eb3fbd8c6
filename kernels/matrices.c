#include "blas.h"
#include "dense.h"

#include <stdint.h>
#include <string.h>

static void fill_gate(double *q, size_t ld, const Layout *layout, const Score *score, size_t head)
{
    size_t token_keys = layout_content(layout) + layout_token_row(layout, 0);
    for (size_t r = 0; r < score->read.count; r++) {
        double entry = score->gate.data == NULL
                           ? (r == head ? (double)score->gate_unit : 0.0)
                           : head_weight(score->gate, head).data[r * score->gate.ld];
        double *keys = q + (score->read.first + r) * ld + token_keys;
        for (size_t i = 0; i < layout->n; i++) {
            keys[i] = entry;
        }
    }
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

/* The position columns' block: its row and column a stand for row a of the stream. */
static void fill_position(double *q, size_t ld, const Layout *layout, const Score *score,
                          double omega, size_t head)
{
    const PositionScores *position = &score->position;
    bool gated = score->kind == SCORE_GATE && score->gate_bias != NULL;
    double gate_bias = gated ? score->gate_bias[head] : 0.0;
    double self = position->token_self * omega + gate_bias;
    double token = position->token_token * omega + gate_bias;
    size_t rows = layout_rows(layout), bias = layout_bias_row(layout);
    double *block = q + layout_content(layout) * (ld + 1);
    for (size_t a = 0; a < rows; a++) {
        double *row = block + a * ld;
        for (size_t b = 0; b < rows; b++) {
            row[b] = a == bias ? position->bias_token * omega : token;
        }
        row[a] = self;
        row[bias] = (a == bias ? position->bias_self : position->token_bias) * omega;
    }
}

void dense_fill_q(double *q, size_t ld, const Layout *layout, const Score *score, double omega,
                  size_t head)
{
    if (score->kind == SCORE_GATE) {
        fill_gate(q, ld, layout, score, head);
    } else if (score->kind == SCORE_BILINEAR) {
        fill_bilinear(q, ld, score, head);
    }
    if (layout->bias_row != BIAS_ROW_NONE) {
        fill_position(q, ld, layout, score, omega, head);
    }
}

static void fill_value(double *v, size_t ld, const Value *value, size_t head)
{
    size_t from = value->read.count, to = value->write.count;
    double *block = v + value->read.first * ld + value->write.first;
    if (value->kind == VALUE_UNIT) {
        block[head * (ld + 1)] = value->unit;
    } else if (value->kind == VALUE_FACTORED) {
        HeadWeight left = head_weight(value->v, head), right = head_weight(value->o, head);
        blas_gemm(block, ld, left.data, left.ld, right.data, right.ld, from, to, value->d_head, 1.0,
                  0.0);
    } else if (value->kind == VALUE_DENSE) {
        HeadWeight matrix = head_weight(value->v, head);
        for (size_t r = 0; r < from; r++) {
            memcpy(block + r * ld, matrix.data + r * matrix.ld, to * sizeof *block);
        }
    }
}

/* What rides on the position rows of the tokens: one row, n times. */
static void fill_value_bias(double *v, size_t ld, const Layout *layout, const Value *value,
                            size_t head)
{
    bool inner = value->kind == VALUE_FACTORED && value->inner_bias != NULL;
    bool outer = value->bias != NULL && head == 0;
    if (!inner && !outer) {
        return;
    }
    KERNEL_CHECK(layout->bias_row != BIAS_ROW_NONE);
    size_t to = value->write.count;
    double *row =
        v + (layout_content(layout) + layout_token_row(layout, 0)) * ld + value->write.first;
    if (inner) {
        HeadWeight right = head_weight(value->o, head);
        blas_gemm(row, ld, value->inner_bias + head * value->d_head, value->d_head, right.data,
                  right.ld, 1, to, value->d_head, 1.0, 0.0);
    }
    for (size_t c = 0; outer && c < to; c++) {
        row[c] += value->bias[c];
    }
    for (size_t i = 1; i < layout->n; i++) {
        memcpy(row + i * ld, row, to * sizeof *row);
    }
}

void dense_fill_v(double *v, size_t ld, const Layout *layout, const Value *value, size_t head)
{
    fill_value(v, ld, value, head);
    fill_value_bias(v, ld, layout, value, head);
    for (size_t c = 0; value->diagonal != 0 && c < value->read.count; c++) {
        v[(value->read.first + c) * (ld + 1)] += value->diagonal;
    }
}
