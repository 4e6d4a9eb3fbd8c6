#include "naive.h"

#include <math.h>
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

static void content_scores(Matrix *q, const Layout *layout, const Score *score, size_t head)
{
    long double scale = (long double)score->scale.num /
                        ((long double)score->scale.den * sqrtl((long double)score->scale.sqrt_den));
    for (size_t r = 0; r < score->read.count; r++) {
        size_t row = score->read.first + r;
        for (size_t i = 0; score->kind == SCORE_GATE && i < layout->n; i++) {
            long double unit = r == head ? score->gate_unit : 0;
            matrix_add(q, row, layout->d + layout->hidden + layout_token_row(layout, i),
                       score->gate.data == NULL ? unit : weight(score->gate, head, r, 0));
        }
        for (size_t c = 0; score->kind == SCORE_BILINEAR && c < score->read.count; c++) {
            size_t column = score->read.first + c;
            for (size_t k = 0; k < score->d_head; k++) {
                matrix_add(q, row, column,
                           scale * weight(score->q, head, r, k) * weight(score->k, head, c, k));
            }
            if (score->d_head == 0) {
                matrix_add(q, row, column, scale * weight(score->q, head, r, c));
            }
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
    content_scores(q, layout, score, head);
    for (size_t a = 0; layout->bias_row != BIAS_ROW_NONE && a <= layout->n; a++) {
        for (size_t b = 0; b <= layout->n; b++) {
            int times = coefficient(&score->position, a == bias, b == bias, a == b);
            matrix_add(q, first + a, first + b, times * (long double)omega);
            if (score->kind == SCORE_GATE && score->gate_bias && a != bias && b != bias) {
                matrix_add(q, first + a, first + b, score->gate_bias[head]);
            }
        }
    }
}

static void content_value(Matrix *v, const Value *value, size_t head)
{
    for (size_t r = 0; value->kind != VALUE_NONE && r < value->read.count; r++) {
        size_t row = value->read.first + r;
        if (value->diagonal != 0) {
            matrix_add(v, row, row, value->diagonal);
        }
        if (value->kind == VALUE_UNIT && r == head) {
            matrix_add(v, row, value->write.first + head, value->unit);
        }
        for (size_t c = 0; value->kind != VALUE_UNIT && c < value->write.count; c++) {
            size_t column = value->write.first + c;
            if (value->kind == VALUE_DENSE) {
                matrix_add(v, row, column, weight(value->v, head, r, c));
            }
            for (size_t k = 0; value->kind == VALUE_FACTORED && k < value->d_head; k++) {
                matrix_add(v, row, column,
                           weight(value->v, head, r, k) * weight(value->o, head, k, c));
            }
        }
    }
}

static void fill_v(Matrix *v, const Layout *layout, const Value *value, size_t head)
{
    memset(v, 0, sizeof *v);
    content_value(v, value, head);
    for (size_t i = 0; i < layout->n; i++) {
        size_t row = layout->d + layout->hidden + layout_token_row(layout, i);
        for (size_t c = 0; c < value->write.count; c++) {
            size_t column = value->write.first + c;
            if (value->bias != NULL && head == 0) {
                matrix_add(v, row, column, value->bias[c]);
            }
            for (size_t k = 0; value->inner_bias != NULL && k < value->d_head; k++) {
                matrix_add(v, row, column,
                           (long double)value->inner_bias[head * value->d_head + k] *
                               weight(value->o, head, k, c));
            }
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

/* Scores of row i into p->value, sums of absolute values into p->bound. */
static void score_row(NaiveMatrix *p, const NaiveMatrix *x, const Matrix *q, size_t i,
                      size_t visible, size_t width)
{
    for (size_t j = 0; j < visible; j++) {
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
    size_t rows = layout_rows(layout), width = layout_width(layout);
    Matrix *q = checked_alloc(sizeof *q);
    memset(pattern, 0, sizeof *pattern);
    fill_q(q, layout, score, head, omega);
    for (size_t i = 0; i < rows; i++) {
        size_t visible = score->causal ? i + 1 : rows;
        long double total = 0, max = -INFINITY, size = 0;
        score_row(pattern, x, q, i, visible, width);
        for (size_t j = 0; j < visible; j++) {
            max = fmaxl(max, pattern->value[i][j]);
            size = fmaxl(size, pattern->bound[i][j]);
        }
        for (size_t j = 0; j < visible; j++) {
            total += expl(pattern->value[i][j] - max);
        }
        for (size_t j = 0; j < visible; j++) {
            long double p = expl(pattern->value[i][j] - max) / total;
            long double lost = 2 * (long double)(2 * width + score->d_head + 8) * size;
            pattern->value[i][j] = p;
            pattern->bound[i][j] = p * (lost + (long double)(rows + 8));
        }
    }
    free(q);
}

/* result += head, bound += its bound; scale += what the additions' roundings are made of. */
static void add_head(NaiveMatrix *result, NaiveMatrix *size, const NaiveMatrix *x,
                     const Layout *layout, const Bundle *bundle, size_t head, double omega)
{
    size_t rows = layout_rows(layout), width = layout_width(layout);
    long double each = (long double)(width + rows + bundle->value.d_head + 8);
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
            result->bound[i][c] += (long double)rows * largest * own;
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

/* One row's x w + b and its bound (depth + 2) (|x| |w| + |b|) + (bound of x) |w|. */
static void affine(long double *y, long double *bound, const long double *x,
                   const long double *x_bound, const double *w, const double *b, size_t from,
                   size_t to)
{
    for (size_t c = 0; c < to; c++) {
        long double absolute = b == NULL ? 0 : fabsl((long double)b[c]), inherited = 0;
        y[c] = b == NULL ? 0 : b[c];
        for (size_t r = 0; r < from; r++) {
            long double term = x[r] * w[r * to + c];
            y[c] += term;
            absolute += fabsl(term);
            inherited += x_bound[r] * fabsl((long double)w[r * to + c]);
        }
        bound[c] = (long double)(from + 2) * absolute + inherited;
    }
}

/* |SiLU'| < 1.1; exp, the sum and the quotient: 4. */
static void silu(long double *y, long double *bound, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        y[c] = y[c] / (1 + expl(-y[c]));
        bound[c] = 1.1L * bound[c] + 4 * fabsl(y[c]);
    }
}

static void direct_row(long double *y, long double *bound, const Direct *direct)
{
    long double x[NAIVE_WIDTH], zero[NAIVE_WIDTH] = {0};
    long double to[NAIVE_WIDTH], to_bound[NAIVE_WIDTH], inner[NAIVE_WIDTH], lost[NAIVE_WIDTH];
    size_t read = direct->read.count, write = direct->write.count;
    memcpy(x, y + direct->read.first, read * sizeof *x);
    if (direct->kind == DIRECT_ACTIVATION) {
        silu(y + direct->read.first, bound + direct->read.first, read);
        return;
    }
    if (direct->kind == DIRECT_FFN) {
        affine(inner, lost, x, zero, direct->w1, direct->b1, read, direct->hidden);
        silu(inner, lost, direct->hidden);
        affine(to, to_bound, inner, lost, direct->w2, direct->b2, direct->hidden, write);
    } else {
        affine(to, to_bound, x, zero, direct->w1, direct->b1, read, write);
    }
    for (size_t c = 0; c < write; c++) {
        size_t column = direct->write.first + c;
        long double before = direct->replace ? 0 : y[column];
        y[column] = before + to[c];
        bound[column] = to_bound[c] + fabsl(before) + fabsl(to[c]);
    }
    for (size_t r = 0; direct->clear && r < read; r++) {
        y[direct->read.first + r] = bound[direct->read.first + r] = 0;
    }
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
        direct_row(result->value[i], result->bound[i], &sublayer->direct);
    }
}
