/*
 * The definition of a model, evaluated by loops in long double.
 */
#include "naive.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A matrix and the same from absolute values: what its entries are sums of. */
typedef struct {
    long double at[NAIVE_WIDTH][NAIVE_WIDTH], absolute[NAIVE_WIDTH][NAIVE_WIDTH];
} Matrix;

static void matrix_add(Matrix *m, size_t r, size_t c, long double term)
{
    m->at[r][c] += term;
    m->absolute[r][c] += fabsl(term);
}

static long double weight(HeadWeight w, size_t head, size_t r, size_t c)
{
    return w.data[head * w.head_stride + r * w.ld + c];
}

/* The columns that are 1 on token rows only: one a token, or an original's constant column. */
static size_t carriers(const Layout *layout)
{
    return layout->bias_row == BIAS_ROW_NONE || layout->bias_row == BIAS_ROW_MASKED ? 1 : layout->n;
}

static size_t carrier(const Layout *layout, size_t i)
{
    return layout->d + layout->hidden + (layout->bias_row == BIAS_ROW_FIRST) + i;
}

static size_t stream_width(const Layout *layout)
{
    return layout_width(layout) + (layout->bias_row == BIAS_ROW_NONE);
}

/* A first factor over the full width: the weight's rows, and the bias on every carrier. */
typedef struct {
    const Layout *layout;
    Columns read;
    HeadWeight weight;
    const double *bias; /* [heads, d_head] */
    size_t d_head;
} Factor;

static long double factor(const Factor *f, size_t head, size_t row, size_t k)
{
    size_t first = carrier(f->layout, 0);
    if (row >= f->read.first && row < f->read.first + f->read.count) {
        return weight(f->weight, head, row - f->read.first, k);
    }
    bool carries = row >= first && row < first + carriers(f->layout);
    return carries && f->bias != NULL ? f->bias[head * f->d_head + k] : 0;
}

static void bilinear_scores(Matrix *q, const Layout *layout, const Score *score, size_t head)
{
    long double scale = (long double)score->scale.num /
                        ((long double)score->scale.den * sqrtl((long double)score->scale.sqrt_den));
    Factor left = {layout, score->read, score->q, score->q_bias, score->d_head};
    Factor right = {layout, score->read, score->k, score->k_bias, score->d_head};
    for (size_t r = 0; score->d_head == 0 && r < score->read.count; r++) {
        for (size_t c = 0; c < score->read.count; c++) {
            matrix_add(q, score->read.first + r, score->read.first + c,
                       scale * weight(score->q, head, r, c));
        }
    }
    for (size_t a = 0; a < stream_width(layout); a++) {
        for (size_t b = 0; b < stream_width(layout); b++) {
            for (size_t k = 0; k < score->d_head; k++) {
                matrix_add(q, a, b, scale * factor(&left, head, a, k) * factor(&right, head, b, k));
            }
        }
    }
}

static void gate_scores(Matrix *q, const Layout *layout, const Score *score, size_t head)
{
    for (size_t i = 0; i < carriers(layout); i++) {
        size_t column = carrier(layout, i);
        for (size_t r = 0; r < score->read.count; r++) {
            long double unit = r == head ? score->gate_unit : 0;
            matrix_add(q, score->read.first + r, column,
                       score->gate_scale *
                           (score->gate.data == NULL ? unit : weight(score->gate, head, r, 0)));
        }
        for (size_t a = 0; score->gate_bias != NULL && a < carriers(layout); a++) {
            matrix_add(q, carrier(layout, a), column,
                       (long double)score->gate_scale * score->gate_bias[head]);
        }
        for (size_t a = 0; score->gate_shift != NULL && a < carriers(layout); a++) {
            matrix_add(q, carrier(layout, a), column, score->gate_shift[head]);
        }
    }
}

static int coefficient(const PositionScores *position, bool query_is_bias, bool key_is_bias,
                       bool same)
{
    if (query_is_bias) {
        return key_is_bias ? position->bias_self : position->bias_token;
    }
    return key_is_bias ? position->token_bias
                       : (same ? position->token_self : position->token_token);
}

static void fill_q(Matrix *q, const Layout *layout, const Score *score, size_t head, double omega)
{
    size_t bias = layout->bias_row == BIAS_ROW_FIRST ? 0 : layout->n;
    size_t first = layout->d + layout->hidden;
    memset(q, 0, sizeof *q);
    if (score->kind == SCORE_GATE) {
        gate_scores(q, layout, score, head);
    } else if (score->kind == SCORE_BILINEAR) {
        bilinear_scores(q, layout, score, head);
    }
    bool positions = layout->bias_row != BIAS_ROW_NONE && layout->bias_row != BIAS_ROW_MASKED;
    for (size_t a = 0; positions && a <= layout->n; a++) {
        for (size_t b = 0; b <= layout->n; b++) {
            int times = coefficient(&score->position, a == bias, b == bias, a == b);
            if (score->extra != NULL) {
                times += score->extra[head * score->extra_stride + a * (layout->n + 1) + b];
            }
            matrix_add(q, first + a, first + b, times * (long double)omega);
        }
    }
}

static void content_value(Matrix *v, const Value *value, size_t head)
{
    for (size_t r = 0; value_width(value) > 0 && r < value->read.count; r++) {
        size_t row = value->read.first + r;
        if (value->diagonal != 0) {
            matrix_add(v, row, row, value->diagonal);
        }
        if (value->unit != 0 && r == head) {
            matrix_add(v, row, value->write.first + head, (long double)value->scale * value->unit);
        }
        for (size_t c = 0; value->d_head == 0 && value->v.data != NULL && c < value->write.count;
             c++) {
            matrix_add(v, row, value->write.first + c, weight(value->v, head, r, c));
        }
    }
}

static void factored_value(Matrix *v, const Layout *layout, const Value *value, size_t head)
{
    Factor left = {layout, value->read, value->v, value->inner_bias, value->d_head};
    for (size_t r = 0; r < stream_width(layout); r++) {
        for (size_t c = 0; c < value->write.count; c++) {
            for (size_t k = 0; k < value->d_head; k++) {
                matrix_add(v, r, value->write.first + c,
                           value->scale * factor(&left, head, r, k) * weight(value->o, head, k, c));
            }
        }
    }
}

static void fill_v(Matrix *v, const Layout *layout, const Value *value, size_t head)
{
    memset(v, 0, sizeof *v);
    content_value(v, value, head);
    if (value->d_head > 0) {
        factored_value(v, layout, value, head);
    }
    for (size_t i = 0; value->bias != NULL && head == 0 && i < carriers(layout); i++) {
        for (size_t c = 0; c < value->write.count; c++) {
            matrix_add(v, carrier(layout, i), value->write.first + c, value->bias[c]);
        }
    }
}

void naive_start(NaiveMatrix *x, const Layout *layout, const double *tokens, const double *bias)
{
    size_t content = layout_content(layout), bias_row = layout_bias_row(layout);
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < layout->n * content; i++) {
        x->value[layout_token_row(layout, i / content)][i % content] = tokens[i];
    }
    for (size_t c = 0; bias != NULL && bias_row != SIZE_MAX && c < content; c++) {
        x->value[bias_row][c] = bias[c];
    }
    for (size_t i = 0; i < layout_rows(layout); i++) {
        if (layout->bias_row == BIAS_ROW_NONE) {
            x->value[i][content] = 1; /* what an original's biases ride on */
        } else if (layout->bias_row == BIAS_ROW_MASKED) {
            x->value[i][content] = i != bias_row;
        } else {
            x->value[i][content + i] = 1;
        }
    }
}

static void *checked_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static bool visible(const Layout *layout, const Score *score, size_t i, size_t j)
{
    size_t bias = layout->bias_row == BIAS_ROW_FIRST ? 0 : layout->n;
    switch (score->visible) {
    case VISIBLE_ALL: return true;
    case VISIBLE_EARLIER: return j <= i;
    case VISIBLE_SELF: return i == j;
    case VISIBLE_SELF_AND_BIAS: return i == j || (layout->bias_row != BIAS_ROW_NONE && j == bias);
    default: return score->listed[i * layout_rows(layout) + j] == 1;
    }
}

/* Scores of row i into p->value, sums of absolute values into p->bound. */
static void score_row(NaiveMatrix *p, const NaiveMatrix *x, const Matrix *q, size_t i, size_t rows,
                      size_t width)
{
    for (size_t j = 0; j < rows; j++) {
        p->value[i][j] = p->bound[i][j] = 0;
        for (size_t a = 0; a < width; a++) {
            for (size_t b = 0; b < width; b++) {
                p->value[i][j] += x->value[i][a] * q->at[a][b] * x->value[j][b];
                p->bound[i][j] += fabsl(x->value[i][a]) * q->absolute[a][b] * fabsl(x->value[j][b]);
            }
        }
    }
}

void naive_pattern(NaiveMatrix *pattern, const NaiveMatrix *x, const Layout *layout,
                   const Bundle *bundle, size_t head, double omega)
{
    const Score *score = &bundle->score;
    size_t rows = layout_rows(layout), width = stream_width(layout);
    Matrix *q = checked_alloc(sizeof *q);
    memset(pattern, 0, sizeof *pattern);
    fill_q(q, layout, score, head, omega);
    for (size_t i = 0; i < rows; i++) {
        long double total = 0, max = -INFINITY, size = 0;
        score_row(pattern, x, q, i, rows, width);
        for (size_t j = 0; j < rows; j++) {
            if (visible(layout, score, i, j)) {
                max = fmaxl(max, pattern->value[i][j]);
                size = fmaxl(size, pattern->bound[i][j]);
            }
        }
        for (size_t j = 0; j < rows; j++) {
            total += visible(layout, score, i, j) ? expl(pattern->value[i][j] - max) : 0;
        }
        for (size_t j = 0; j < rows; j++) {
            if (!visible(layout, score, i, j)) {
                pattern->value[i][j] = pattern->bound[i][j] = 0;
                continue;
            }
            long double p = expl(pattern->value[i][j] - max) / total;
            long double lost = 2 * (long double)(2 * width + score->d_head + 9) * size;
            pattern->value[i][j] = p;
            pattern->bound[i][j] = p * (lost + (long double)(rows + 8)) + 4 * DBL_MIN;
        }
    }
    free(q);
}

/* result += head, bound += its bound; scale += what the additions' roundings are made of. */
static void add_head(NaiveMatrix *result, NaiveMatrix *size, const NaiveMatrix *x,
                     const Layout *layout, const Bundle *bundle, size_t head, double omega)
{
    size_t rows = layout_rows(layout), width = stream_width(layout);
    long double each = (long double)(width + rows + bundle->value.d_head + 9);
    NaiveMatrix *p = checked_alloc(sizeof *p);
    Matrix *v = checked_alloc(sizeof *v);
    naive_pattern(p, x, layout, bundle, head, omega);
    fill_v(v, layout, &bundle->value, head);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < width; c++) {
            long double largest = 0, own = 0;
            for (size_t j = 0; j < rows; j++) {
                long double value = 0, absolute = 0, weighed = p->value[i][j];
                for (size_t r = 0; r < width; r++) {
                    value += x->value[j][r] * v->at[r][c];
                    absolute += fabsl(x->value[j][r]) * v->absolute[r][c];
                }
                result->value[i][c] += weighed * value;
                result->bound[i][c] += (p->bound[i][j] + weighed * each) * absolute;
                size->value[i][c] += weighed * absolute;
                own = j == i ? absolute : own;
                largest = j == i ? largest : fmaxl(largest, weighed);
            }
            result->bound[i][c] += (long double)rows * largest * own + each * DBL_MIN;
        }
    }
    free(v);
    free(p);
}

static void heads(NaiveMatrix *result, const NaiveMatrix *x, const Layout *layout,
                  const Sublayer *sublayer, double omega)
{
    NaiveMatrix *size = checked_alloc(sizeof *size);
    size_t additions = 2;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        additions += sublayer->bundles[b].heads;
        for (size_t h = 0; h < sublayer->bundles[b].heads; h++) {
            add_head(result, size, x, layout, &sublayer->bundles[b], h, omega);
        }
    }
    for (size_t i = 0; i < layout_rows(layout); i++) {
        for (size_t c = 0; c < layout_width(layout); c++) {
            result->value[i][c] += x->value[i][c];
            result->bound[i][c] +=
                (long double)additions * (size->value[i][c] + fabsl(x->value[i][c]));
        }
    }
    free(size);
}

void naive_sublayer(NaiveMatrix *result, const NaiveMatrix *x, const Layout *layout,
                    const Sublayer *sublayer, double omega)
{
    memset(result, 0, sizeof *result);
    if (sublayer->bundle_count > 0) {
        heads(result, x, layout, sublayer, omega);
        return;
    }
    memcpy(result->value, x->value, sizeof result->value);
    for (size_t i = 0; i < layout->n; i++) {
        naive_direct_row(result->value[i], result->bound[i], &sublayer->direct);
    }
}
