/*
 * Heads whose scores tell keys apart only as "itself", "another token" and "the bias row":
 * no pattern is ever formed, a row costs a few operations a column.
 */
#include "groups.h"

#include "each.h"
#include "softmax.h"

#include <string.h>

GroupScores group_scores(const Layout *layout, const Score *score, double omega)
{
    GroupScores scores = {.layout = layout, .score = score, .omega = omega, .n = layout->n};
    if (layout->bias_row != BIAS_ROW_NONE) {
        const PositionScores *position = &score->position;
        scores.bias_row = true;
        scores.token_self = position->token_self * omega;
        scores.token_token = position->token_token * omega;
        scores.token_bias = position->token_bias * omega;
        scores.bias_self = position->bias_self * omega;
        scores.bias_token = position->bias_token * omega;
    }
    return scores;
}

size_t groups_others(const GroupScores *scores, size_t i)
{
    bool token = i < scores->n;
    switch (scores->score->visible) {
    case VISIBLE_ALL: return scores->n - token;
    case VISIBLE_EARLIER: return token ? i : 0;
    default: return 0;
    }
}

static bool sees_bias_row(const GroupScores *scores, size_t i)
{
    return scores->bias_row && (i == scores->n || scores->score->visible != VISIBLE_SELF);
}

/* Columns that are evaluated together, row by row. */
enum { COLUMNS = 256 };

/* Weights of one row, one for each column; before that, its scores. */
typedef struct {
    double self[COLUMNS], other[COLUMNS], bias[COLUMNS];
} RowWeights;

/* to[c] = the numbers of row i, columns first + c. */
static void affine_row(double *to, const Affine *affine, size_t n, size_t i, size_t first,
                       size_t count)
{
    if (affine->from.tokens == NULL) {
        memset(to, 0, count * sizeof *to);
        return;
    }
    const double *from = i < n ? affine->from.tokens + i * affine->from.ld : affine->from.bias;
    double factor = affine->factor;
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        to[c] = factor * from[first + c];
    }
    if (i < n && affine->bias != NULL) {
        const double *bias = affine->bias + first;
#pragma omp simd
        for (size_t c = 0; c < count; c++) {
            to[c] += bias[c];
        }
    }
}

/* Position scores of row i toward itself and the bias row, where each head has extra coefficients
 * of its own. */
static void extra_positions(RowWeights *weights, const GroupHeads *heads, size_t i, size_t head,
                            size_t count)
{
    const GroupScores *scores = &heads->scores;
    size_t bias = layout_bias_row(scores->layout);
    size_t row = i < scores->n ? layout_token_row(scores->layout, i) : bias;
    for (size_t c = 0; c < count; c++) {
        size_t h = heads->first + head + c;
        int to_self = score_position(scores->layout, scores->score, h, row, row);
        int to_bias = score_position(scores->layout, scores->score, h, row, bias);
        weights->self[c] = to_self * scores->omega;
        weights->bias[c] = to_bias * scores->omega;
    }
}

/* Position scores of row i toward itself, other tokens and the bias row. */
static void position_scores(RowWeights *weights, const GroupHeads *heads, size_t i, size_t head,
                            size_t count)
{
    const GroupScores *scores = &heads->scores;
    bool token = i < scores->n;
    for (size_t c = 0; c < count; c++) {
        weights->self[c] = scores->token_self;
        weights->other[c] = token ? scores->token_token : scores->bias_token;
        weights->bias[c] = token ? scores->token_bias : scores->bias_self;
    }
    if (scores->score->extra != NULL) {
        extra_positions(weights, heads, i, head, count);
    }
}

/* Scores less their maximum, from position scores; -infinity for a group that is not seen.  The
 * scores are doubles: what Omega's size took from them is what is measured. */
static void shift_scores(RowWeights *weights, const double *content, const GroupScores *scores,
                         size_t i, size_t count)
{
    bool token = i < scores->n, sees_bias = sees_bias_row(scores, i);
    bool others = groups_others(scores, i) > 0;
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        double self = token ? content[c] + weights->self[c] : -INFINITY;
        double other = others ? content[c] + weights->other[c] : -INFINITY;
        double bias = sees_bias ? weights->bias[c] : -INFINITY;
        double max = self > bias ? self : bias;
        max = other > max ? other : max;
        weights->self[c] = self - max;
        weights->other[c] = other - max;
        weights->bias[c] = bias - max;
    }
}

/* exp of the three, of which the largest is 0.  Where that is not the other tokens', one call of
 * exp does for the row itself and the bias row, and no branch depends on the sign of a score. */
static void exponentials(RowWeights *weights, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        double self = weights->self[c], other = weights->other[c], bias = weights->bias[c];
        if (other == 0) {
            weights->self[c] = exp_shifted(self);
            weights->bias[c] = exp_shifted(bias);
        } else {
            double e = exp_shifted(self == 0 ? bias : self);
            weights->self[c] = self == 0 ? 1 : e;
            weights->bias[c] = self == 0 ? e : 1;
        }
        weights->other[c] = exp_shifted(other);
    }
}

static void divide_by_total(RowWeights *weights, size_t others, size_t count)
{
    double number = (double)others;
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        double total = weights->self[c] + number * weights->other[c] + weights->bias[c];
        double self = weights->self[c] / total;
        weights->self[c] = self;
        weights->other[c] /= total;
        weights->bias[c] /= total;
    }
}

/* Weights of row i for count heads from heads->first + head on. */
static void row_weights(RowWeights *weights, const GroupHeads *heads, size_t i, size_t head,
                        size_t count)
{
    double content[COLUMNS];
    affine_row(content, &heads->gates, heads->scores.n, i, head, count);
    if (heads->scale != 1) {
        for (size_t c = 0; c < count; c++) {
            content[c] *= heads->scale;
        }
    }
    position_scores(weights, heads, i, head, count);
    shift_scores(weights, content, &heads->scores, i, count);
    exponentials(weights, count);
    divide_by_total(weights, groups_others(&heads->scores, i), count);
}

Groups groups_weights(const GroupHeads *heads, size_t i, size_t head)
{
    RowWeights weights;
    row_weights(&weights, heads, i, head, 1);
    return (Groups){weights.self[0], weights.other[0], weights.bias[0]};
}

/* Repeats weights, one for each head, so that there is one for each column: columns first, ...,
 * first + count - 1, `width` of them a head.  weights[0] is the first column's head's. */
static void spread(double *weights, size_t first, size_t count, size_t width)
{
    size_t end = count;
    for (size_t h = (first + count - 1) / width - first / width + 1; h-- > 0;) {
        size_t start = h == 0 ? 0 : (first / width + h) * width - first;
        double weight = weights[h];
        for (size_t c = start; c < end; c++) {
            weights[c] = weight;
        }
        end = start;
    }
}

typedef struct {
    const GroupHeads *heads;
    Rows out;
    double factor;
    bool add;
} Attend;

/* What one row attends to, column by column. */
typedef struct {
    double self[COLUMNS], others[COLUMNS], bias[COLUMNS];
} RowValues;

/* out = the weights times the values; others hold the row itself too when it is a token that sees
 * all of them. */
static void combine(double *out, const RowWeights *weights, const RowValues *values,
                    bool take_off_self, size_t count)
{
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        double others = take_off_self ? values->others[c] - values->self[c] : values->others[c];
        double sum = weights->self[c] != 0 ? weights->self[c] * values->self[c] : 0;
        sum = weights->other[c] != 0 ? sum + weights->other[c] * others : sum;
        out[c] = weights->bias[c] != 0 ? sum + weights->bias[c] * values->bias[c] : sum;
    }
}

static void add_row(double *sum, const double *row, size_t columns)
{
#pragma omp simd
    for (size_t c = 0; c < columns; c++) {
        sum[c] += row[c];
    }
}

static void store(const Attend *attend, const double *result, size_t i, size_t first, size_t count)
{
    double *out = rows_row(attend->out, attend->heads->scores.n, i) + first;
    double factor = attend->factor;
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        out[c] = attend->add ? out[c] + factor * result[c] : factor * result[c];
    }
}

static void attend_columns(const void *context, size_t item, size_t thread)
{
    const Attend *attend = context;
    const GroupHeads *heads = attend->heads;
    const GroupScores *scores = &heads->scores;
    size_t n = scores->n, width = heads->width, first = item * COLUMNS;
    size_t left = heads->heads * width - first, count = left < COLUMNS ? left : COLUMNS;
    size_t head = first / width, head_count = (first + count - 1) / width + 1 - head;
    bool all = scores->score->visible == VISIBLE_ALL;
    bool earlier = scores->score->visible == VISIBLE_EARLIER;
    RowWeights weights;
    RowValues values = {.others = {0}};
    double result[COLUMNS];
    (void)thread;
    if (scores->bias_row) {
        affine_row(values.bias, &heads->in, n, n, first, count);
    }
    for (size_t i = 0; all && i < n; i++) {
        affine_row(values.self, &heads->in, n, i, first, count);
        add_row(values.others, values.self, count);
    }
    for (size_t i = 0; i < n + scores->bias_row; i++) {
        row_weights(&weights, heads, i, head, head_count);
        if (width > 1) {
            spread(weights.self, first, count, width);
            spread(weights.other, first, count, width);
            spread(weights.bias, first, count, width);
        }
        if (i < n) {
            affine_row(values.self, &heads->in, n, i, first, count);
        }
        combine(result, &weights, &values, i < n && all, count);
        store(attend, result, i, first, count);
        if (earlier) {
            add_row(values.others, values.self, count);
        }
    }
}

void groups_attend(const GroupHeads *heads, Rows out, double factor, bool add, size_t threads)
{
    Attend attend = {heads, out, factor, add};
    size_t columns = heads->heads * heads->width;
    each(columns / COLUMNS + (columns % COLUMNS != 0), threads, attend_columns, &attend);
}
