/*
 * The full matrices Q and V of a head on the augmented stream, for the dense form.
 */
#include "dense.h"

#include "../memory/need.h"

#include <stdlib.h>
#include <string.h>

/* Repeats the row or column that rides on the position rows or columns of the tokens n times. */
static void repeat_row(Scalar *row, size_t ld, size_t n, size_t width)
{
    for (size_t i = 1; i < n; i++) {
        memcpy(row + i * ld, row, width * sizeof *row);
    }
}

static void repeat_column(Scalar *column, size_t ld, size_t n, size_t height)
{
    for (size_t r = 0; r < height; r++) {
        for (size_t i = 1; i < n; i++) {
            column[r * ld + i] = column[r * ld];
        }
    }
}

static GemmFactor weight_factor(Weight weight)
{
    return (GemmFactor){weight.data, weight.ld};
}

/* A vector among others, from number `first` on. */
static GemmFactor vectors(const Pass *pass, const double *of_heads, size_t first, size_t width)
{
    return (GemmFactor){weights_stored(pass->weights, of_heads) + first, width};
}

/* The row or column of token 0. */
static size_t first_position(const Layout *layout)
{
    return layout_token_column(layout, 0);
}

static void fill_gate(GemmMatrix q, const Pass *pass, const Score *score, size_t head)
{
    const Layout *layout = pass->layout;
    Weight gate = weight_stored(pass, score->gate);
    Scalar *column = q.entry + score->read.first * q.ld + first_position(layout);
    for (size_t r = 0; r < score->read.count; r++) {
        Scalar entry = score->gate.data == NULL ? (r == head ? (Scalar)score->gate_unit : 0)
                                                : head_weight(gate, head).data[r * gate.ld];
        column[r * q.ld] = (Scalar)score->gate_scale * entry;
    }
    repeat_column(column, q.ld, layout_token_columns(layout), score->read.count);
}

/* A head's W_Q or Q, and W_K, its columns of queries and keys, and their biases or NULL. */
typedef struct {
    Columns queries, keys;
    GemmFactor left, right, left_bias, right_bias;
    Scalar *mixed; /* what left is made of, where heads mix it */
} HeadFactors;

/* W_Q, or the identity, and b_Q times what the head mixes them by: [queries + 1, d_head]. */
static void mix_left(HeadFactors *of, const Pass *pass, const Score *score, size_t head)
{
    size_t depth = score->d_head, rows = of->queries.count;
    Weight mix = head_weight(weight_stored(pass, score->mix), head);
    of->mixed = need_zeros((rows + 1) * depth, sizeof *of->mixed);
    for (size_t r = 0; r < rows + (of->left_bias.entry != NULL); r++) {
        const GemmFactor *from = r < rows ? &of->left : &of->left_bias;
        const Scalar *row =
            from->entry != NULL ? from->entry + (r < rows ? r : 0) * from->ld : NULL;
        for (size_t k = 0; k < depth; k++) {
            Scalar own = row != NULL ? row[k] : r == k;
            of->mixed[r * depth + k] = own * mix.data[k * mix.ld];
        }
    }
    of->left = (GemmFactor){of->mixed, depth};
    if (of->left_bias.entry != NULL) {
        of->left_bias.entry = of->mixed + rows * depth;
    }
}

static HeadFactors factors_open(const Pass *pass, const Score *score, size_t head)
{
    size_t depth = score->d_head;
    HeadFactors of = {.queries = score_query_columns(score), .keys = score->read};
    if (score->q.data != NULL) {
        of.left = weight_factor(head_weight(weight_stored(pass, score->q), head));
    }
    if (depth > 0) {
        of.right = weight_factor(head_weight(weight_stored(pass, score->k), head));
    }
    if (score->q_bias != NULL) {
        of.left_bias = vectors(pass, score->q_bias, score_own(score, head), depth);
    }
    if (score->k_bias != NULL) {
        of.right_bias = vectors(pass, score->k_bias, score_own(score, head), depth);
    }
    if (score_is_mixed(score)) {
        mix_left(&of, pass, score, head);
    }
    return of;
}

static void fill_bilinear(GemmMatrix q, const Score *score, const HeadFactors *of)
{
    size_t rows = of->queries.count, columns = of->keys.count;
    Scalar *block = q.entry + of->queries.first * q.ld + of->keys.first;
    Scalar scale = scale_value(score->scale);
    if (score->d_head > 0) {
        blas_gemm_nt((GemmMatrix){block, q.ld}, of->left, of->right,
                     (GemmTask){rows, columns, score->d_head, scale, 0});
        return;
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            block[r * q.ld + c] = scale * of->left.entry[r * of->left.ld + c];
        }
    }
}

/* q_bias k_h^T on the position rows of the tokens, q_h k_bias^T on their columns. */
static void fill_bilinear_biases(GemmMatrix q, const Pass *pass, const Score *score,
                                 const HeadFactors *of)
{
    const Layout *layout = pass->layout;
    size_t depth = score->d_head, first = first_position(layout);
    Scalar scale = scale_value(score->scale);
    bool biased = score->q_bias != NULL || score->k_bias != NULL;
    KERNEL_CHECK(!biased || layout->bias_row != BIAS_ROW_NONE);
    if (score->q_bias != NULL) {
        Scalar *row = q.entry + first * q.ld + of->keys.first;
        blas_gemm_nt((GemmMatrix){row, q.ld}, of->left_bias, of->right,
                     (GemmTask){1, of->keys.count, depth, scale, 0});
        repeat_row(row, q.ld, layout_token_columns(layout), of->keys.count);
    }
    if (score->k_bias != NULL) {
        Scalar *column = q.entry + of->queries.first * q.ld + first;
        blas_gemm_nt((GemmMatrix){column, q.ld}, of->left, of->right_bias,
                     (GemmTask){of->queries.count, 1, depth, scale, 0});
        repeat_column(column, q.ld, layout_token_columns(layout), of->queries.count);
    }
}

/* The sum that a gate's bias and shift add to a token's score toward a token. */
static Scalar gate_constant(const Pass *pass, const Score *score, size_t head)
{
    const Scalar *bias = weights_stored(pass->weights, score->gate_bias);
    const Scalar *shift = weights_stored(pass->weights, score->gate_shift);
    Scalar constant = bias != NULL ? (Scalar)score->gate_scale * bias[head] : 0;
    return shift != NULL ? constant + shift[head] : constant;
}

/* The sum that biases alone add to a token's score toward a token. */
static Scalar score_bias(const Pass *pass, const Score *score, size_t head, const HeadFactors *of)
{
    Scalar product = 0;
    if (score->q_bias == NULL || score->k_bias == NULL) {
        return gate_constant(pass, score, head);
    }
    blas_gemm_nt((GemmMatrix){&product, 1}, of->left_bias, of->right_bias,
                 (GemmTask){1, 1, score->d_head, scale_value(score->scale), 0});
    return product;
}

/* The position columns' block: its row and column a stand for row a of the stream. */
static void fill_position(GemmMatrix q, const Pass *pass, const Score *score, size_t head,
                          const HeadFactors *of)
{
    const Layout *layout = pass->layout;
    const PositionScores *position = &score->position;
    Scalar of_biases = score_bias(pass, score, head, of);
    Scalar self = position_value(pass, position->token_self) + of_biases;
    Scalar token = position_value(pass, position->token_token) + of_biases;
    size_t rows = layout_rows(layout), bias = layout_bias_row(layout);
    Scalar *block = q.entry + layout_content(layout) * (q.ld + 1);
    if (layout->bias_row == BIAS_ROW_MASKED) {
        *block = of_biases;
        return;
    }
    for (size_t a = 0; a < rows; a++) {
        Scalar *row = block + a * q.ld;
        for (size_t b = 0; b < rows; b++) {
            row[b] = a == bias ? position_value(pass, position->bias_token) : token;
        }
        row[a] = self;
        row[bias] = position_value(pass, a == bias ? position->bias_self : position->token_bias);
    }
    for (size_t e = 0; score->extra != NULL && e < rows * rows; e++) {
        size_t a = e / rows, b = e % rows;
        block[a * q.ld + b] = position_value(pass, score_position(layout, score, head, a, b)) +
                              (a != bias && b != bias ? of_biases : 0);
    }
}

/* Has a head position scores of its own: from its biases, or extra ones? */
static bool position_differs(const Score *score)
{
    bool biased = score->gate_bias != NULL || score->gate_shift != NULL ||
                  (score->q_bias != NULL && score->k_bias != NULL);
    return biased || (score->extra != NULL && score->extra_stride > 0);
}

void matrices_fill_q(GemmMatrix q, const Pass *pass, const Score *score, size_t head, bool fresh)
{
    HeadFactors of = {0};
    if (score_by_gate(score)) {
        fill_gate(q, pass, score, head);
    } else if (score_by_key(score)) {
        KERNEL_CHECK(score->rotary == NULL);
        of = factors_open(pass, score, head);
        fill_bilinear(q, score, &of);
        fill_bilinear_biases(q, pass, score, &of);
    }
    if (pass->layout->bias_row != BIAS_ROW_NONE && (fresh || position_differs(score))) {
        fill_position(q, pass, score, head, &of);
    }
    free(of.mixed);
}

/* scale v_h in the head's own column of those written. */
static void fill_column(GemmMatrix block, const Pass *pass, const Value *value, size_t head)
{
    Weight left = head_weight(weight_stored(pass, value->v), head);
    for (size_t r = 0; r < value->read.count; r++) {
        memset(block.entry + r * block.ld, 0, value->write.count * sizeof *block.entry);
        block.entry[r * block.ld + head] = (Scalar)value->scale * left.data[r * left.ld];
    }
}

/* scale v_h o_h of rank one: what dgemm computes, without its overhead. */
static void fill_outer(GemmMatrix block, const Pass *pass, const Value *value, size_t head)
{
    Weight left = head_weight(weight_stored(pass, value->v), head);
    const Scalar *row = head_weight(weight_stored(pass, value->o), head).data;
    Scalar scale = (Scalar)value->scale;
    for (size_t r = 0; r < value->read.count; r++) {
        Scalar factor = left.data[r * left.ld], *to = block.entry + r * block.ld;
#pragma omp simd
        for (size_t c = 0; c < value->write.count; c++) {
            to[c] = scale * (factor * row[c]);
        }
    }
}

static void fill_value(GemmMatrix v, const Pass *pass, const Value *value, size_t head,
                       size_t heads)
{
    size_t from = value->read.count, to = value->write.count;
    Scalar *block = v.entry + value->read.first * v.ld + value->write.first;
    if (value->unit != 0) {
        for (size_t h = 0; h < heads; h++) {
            block[h * (v.ld + 1)] = h == head ? (Scalar)(value->scale * value->unit) : 0;
        }
    } else if (value_is_sign(value)) {
        return; /* it is on the position rows alone */
    } else if (value->d_head > 0 && value->o.data == NULL) {
        fill_column((GemmMatrix){block, v.ld}, pass, value, head);
    } else if (value->d_head == 1) {
        fill_outer((GemmMatrix){block, v.ld}, pass, value, head);
    } else if (value->d_head > 0) {
        Weight left = head_weight(weight_stored(pass, value->v), head);
        Weight right = head_weight(weight_stored(pass, value->o), head);
        blas_gemm((GemmMatrix){block, v.ld}, weight_factor(left), weight_factor(right),
                  (GemmTask){from, to, value->d_head, (Scalar)value->scale, 0});
    } else if (value->v.data != NULL) {
        Weight matrix = head_weight(weight_stored(pass, value->v), head);
        for (size_t r = 0; r < from; r++) {
            memcpy(block + r * v.ld, matrix.data + r * matrix.ld, to * sizeof *block);
        }
    }
}

/* What the bias row's position row has. */
static void fill_bias_row(GemmMatrix v, const Pass *pass, const Value *value, size_t head)
{
    const Layout *layout = pass->layout;
    size_t column = layout_content(layout) + layout_bias_row(layout);
    Scalar *row = v.entry + column * v.ld + value->write.first;
    for (size_t c = 0; c < value->write.count; c++) {
        row[c] = head == 0 ? (Scalar)value->bias_row : 0;
    }
    if (value_is_sign(value)) {
        row[head] -= (Scalar)value->scale;
    }
}

/* row += the head's inner bias, or sign, times its second factor. */
static void add_inner_bias(Scalar *row, GemmMatrix v, const Pass *pass, const Value *value,
                           size_t head)
{
    GemmFactor inner = {NULL, 1};
    if (value->inner_bias != NULL) {
        inner = vectors(pass, value->inner_bias, head * value->d_head, value->d_head);
    }
    if (value->o.data == NULL) {
        row[head] = (Scalar)value->scale * (inner.entry != NULL ? *inner.entry : 1);
        return;
    }
    Weight right = head_weight(weight_stored(pass, value->o), head);
    blas_gemm((GemmMatrix){row, v.ld}, inner, weight_factor(right),
              (GemmTask){1, value->write.count, value->d_head, (Scalar)value->scale, 0});
}

static void fill_value_bias(GemmMatrix v, const Pass *pass, const Value *value, size_t head)
{
    const Layout *layout = pass->layout;
    const Scalar *bias = weights_stored(pass->weights, value->bias);
    bool inner = value->inner_bias != NULL || value_is_sign(value), outer = value->bias != NULL;
    if (value_is_sign(value) || value->bias_row != 0) {
        fill_bias_row(v, pass, value, head);
    }
    if (!inner && !outer) {
        return;
    }
    KERNEL_CHECK(layout->bias_row != BIAS_ROW_NONE);
    size_t to = value->write.count;
    Scalar *row = v.entry + first_position(layout) * v.ld + value->write.first;
    memset(row, 0, to * sizeof *row);
    if (inner) {
        add_inner_bias(row, v, pass, value, head);
    }
    for (size_t c = 0; outer && head == 0 && c < to; c++) {
        row[c] += bias[c];
    }
    repeat_row(row, v.ld, layout_token_columns(layout), to);
}

void matrices_fill_v(GemmMatrix v, const Pass *pass, const Bundle *bundle, size_t head)
{
    const Value *value = &bundle->value;
    fill_value(v, pass, value, head, bundle->heads);
    fill_value_bias(v, pass, value, head);
    for (size_t c = 0; value->diagonal != 0 && c < value->read.count; c++) {
        v.entry[(value->read.first + c) * (v.ld + 1)] += (Scalar)value->diagonal;
    }
}
