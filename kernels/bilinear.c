/*
 * Heads with bilinear scores.  Tokens toward tokens is what the original computes, with the
 * same calls and shapes; Omega and the bias row enter after it, so that where they are
 * absorbed nothing is left of them.
 */
#include "blas.h"
#include "structured.h"

#include "../cases/fault.h"

#include <string.h>

Bilinear bilinear_take(Scratch *scratch, const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    double n = (double)layout->n;
    double factors = (double)bundle->heads * (double)score->d_head;
    Bilinear bilinear = {0};
    bilinear.left =
        rows_take(scratch, layout, score->d_head > 0 ? factors : (double)score->read.count);
    bilinear.right = rows_take(scratch, layout, factors);
    bilinear.tokens = scratch_take(scratch, n, n);
    bilinear.mass = scratch_take(scratch, 1, n + 1);
    if (layout->bias_row != BIAS_ROW_NONE) {
        bilinear.to_bias = scratch_take(scratch, 1, n);
        bilinear.from_bias = scratch_take(scratch, 1, n + 1);
    }
    return bilinear;
}

void bilinear_project(const Bilinear *bilinear, ConstRows x, size_t n, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    if (score->d_head > 0) {
        rows_project(bilinear->left, x, score->q, n, score->read.count, bundle->heads,
                     score->d_head);
        rows_project(bilinear->right, x, score->k, n, score->read.count, bundle->heads,
                     score->d_head);
        rows_add_to_tokens(bilinear->left, score->q_bias, n, bundle->heads * score->d_head);
        rows_add_to_tokens(bilinear->right, score->k_bias, n, bundle->heads * score->d_head);
    }
}

/* scale * left right^T: tokens x tokens, tokens x bias row, bias row x both. */
static void content_scores(const Bilinear *bilinear, ConstRows left, ConstRows right, size_t n,
                           size_t width, double scale)
{
    blas_gemm_nt(bilinear->tokens, n, left.tokens, left.ld, right.tokens, right.ld, n, n, width,
                 scale, 0.0);
    if (left.bias == NULL) {
        return;
    }
    blas_gemm_nt(bilinear->to_bias, 1, left.tokens, left.ld, right.bias, right.ld, n, 1, width,
                 scale, 0.0);
    blas_gemm_nt(bilinear->from_bias, n, left.bias, left.ld, right.tokens, right.ld, 1, n, width,
                 scale, 0.0);
    blas_gemm_nt(bilinear->from_bias + n, 1, left.bias, left.ld, right.bias, right.ld, 1, 1, width,
                 scale, 0.0);
}

/* Weights of a row: tokens [n], the first visible of them seen, and *bias (or NULL) last.
 * Returns the weight on all tokens. */
static double softmax_row(double *tokens, size_t visible, size_t n, double *bias)
{
    double max = -INFINITY, total = 0;
    for (size_t j = 0; j < visible; j++) {
        max = tokens[j] > max ? tokens[j] : max;
    }
    max = bias != NULL && *bias > max ? *bias : max;
    for (size_t j = 0; j < visible; j++) {
        tokens[j] = exp_shifted(tokens[j] - max);
        total += tokens[j];
    }
    double of_tokens = total;
    if (bias != NULL) {
        *bias = exp_shifted(*bias - max);
        total += *bias;
        *bias /= total;
    }
    for (size_t j = 0; j < visible; j++) {
        tokens[j] /= total;
    }
    memset(tokens + visible, 0, (n - visible) * sizeof *tokens);
    return of_tokens / total;
}

/* Adds to a row of scores; skipped when 0, the original's case. */
static void add_position(double *row, size_t visible, double score)
{
    for (size_t j = 0; score != 0 && j < visible; j++) {
        row[j] += score;
    }
}

/* Masks but the causal one, and extra coefficients of Omega, have no order to use. */
static bool key_by_key(const Score *score)
{
    return score->extra != NULL ||
           (score->visible != VISIBLE_ALL && score->visible != VISIBLE_EARLIER);
}

/* Position scores and mask of row i of the stream, onto the scores tokens [n] and *bias (or NULL):
 * a key that is not seen scores -infinity. */
static void add_keys(double *tokens, double *bias, const GroupScores *position, size_t head,
                     size_t i)
{
    const Layout *layout = position->layout;
    const Score *score = position->score;
    for (size_t k = 0; k < position->n + (bias != NULL); k++) {
        size_t j = k < position->n ? layout_token_row(layout, k) : layout_bias_row(layout);
        double *entry = k < position->n ? tokens + k : bias;
        *entry += score_position(layout, score, head, i, j) * position->omega;
        *entry = score_sees(layout, score, i, j) ? *entry : -INFINITY;
    }
}

static void row_of_token(const Bilinear *bilinear, const GroupScores *position, size_t head,
                         size_t i)
{
    size_t n = position->n, visible = position->score->visible == VISIBLE_EARLIER ? i + 1 : n;
    double *row = bilinear->tokens + i * n;
    double *bias = position->bias_row ? bilinear->to_bias + i : NULL;
    if (key_by_key(position->score)) {
        add_keys(row, bias, position, head, layout_token_row(position->layout, i));
        bilinear->mass[i] = softmax_row(row, n, n, bias);
        return;
    }
    add_position(row, i, position->token_token);
    add_position(row + i, 1, position->token_self);
    add_position(row + i + 1, visible - i - 1, position->token_token);
    if (bias != NULL) {
        *bias += position->token_bias;
    }
    bilinear->mass[i] = softmax_row(row, visible, n, bias);
}

static void row_of_bias(const Bilinear *bilinear, const GroupScores *position, size_t head)
{
    size_t n = position->n, visible = position->score->visible == VISIBLE_EARLIER ? 0 : n;
    double *row = bilinear->from_bias;
    if (key_by_key(position->score)) {
        add_keys(row, row + n, position, head, layout_bias_row(position->layout));
        bilinear->mass[n] = softmax_row(row, n, n, row + n);
        return;
    }
    add_position(bilinear->from_bias, visible, position->bias_token);
    bilinear->from_bias[n] += position->bias_self;
    bilinear->mass[n] = softmax_row(bilinear->from_bias, visible, n, bilinear->from_bias + n);
}

void bilinear_pattern(const Bilinear *bilinear, ConstRows x, const Pass *pass, const Score *score,
                      size_t head)
{
    GroupScores position = group_scores(pass->layout, score, pass->omega);
    size_t n = position.n, width = score->d_head;
    ConstRows left = rows_const(bilinear->left), right = x;
    if (score->d_head == 0) {
        width = score->read.count;
        rows_project(bilinear->left, x, head_weight(score->q, head), n, width, 1, width);
    } else {
        left = rows_const_from(left, head * width);
        right = rows_const_from(rows_const(bilinear->right), head * width);
    }
    double scale = FAULT("score-scale-dropped", 1.0, scale_value(score->scale));
    content_scores(bilinear, left, right, n, width, scale);
    for (size_t i = 0; i < n; i++) {
        row_of_token(bilinear, &position, head, i);
    }
    if (position.bias_row) {
        row_of_bias(bilinear, &position, head);
    }
}

void bilinear_attend(const Bilinear *bilinear, Rows out, ConstRows in, size_t n, size_t width)
{
    blas_gemm(out.tokens, out.ld, bilinear->tokens, n, in.tokens, in.ld, n, width, n, 1.0, 0.0);
    if (in.bias == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; bilinear->to_bias[i] != 0 && c < width; c++) {
            out.tokens[i * out.ld + c] += bilinear->to_bias[i] * in.bias[c];
        }
    }
    blas_gemm(out.bias, out.ld, bilinear->from_bias, n, in.tokens, in.ld, 1, width, n, 1.0, 0.0);
    for (size_t c = 0; bilinear->from_bias[n] != 0 && c < width; c++) {
        out.bias[c] += bilinear->from_bias[n] * in.bias[c];
    }
}
