/*
 * Heads whose scores tell keys apart only as "itself", "another token" and "the bias row":
 * no pattern is ever formed, a row costs a few operations a column.
 */
#include "groups.h"

#include "each.h"
#include "softmax.h"

#include <string.h>

GroupScores group_scores(const Pass *pass, const Score *score)
{
    const Layout *layout = pass->layout;
    GroupScores scores = {.pass = pass, .layout = layout, .score = score, .n = layout->n};
    if (layout->bias_row != BIAS_ROW_NONE) {
        const PositionScores *position = &score->position;
        scores.bias_row = true;
        scores.token_self = position_value(pass, position->token_self);
        scores.token_token = position_value(pass, position->token_token);
        scores.token_bias = position_value(pass, position->token_bias);
        scores.bias_self = position_value(pass, position->bias_self);
        scores.bias_token = position_value(pass, position->bias_token);
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
    Scalar self[COLUMNS], other[COLUMNS], bias[COLUMNS];
} RowWeights;

/* Columns first, ..., first + count - 1 of a row, or heads. */
typedef struct {
    size_t row, first, count;
} Stretch;

/* to[c] = the numbers of the row, columns at.first + c. */
static void affine_row(Scalar *to, const GroupHeads *heads, const Affine *affine, Stretch at)
{
    size_t n = heads->scores.n;
    if (affine->from.tokens == NULL) {
        memset(to, 0, at.count * sizeof *to);
        return;
    }
    const Scalar *from =
        at.row < n ? affine->from.tokens + at.row * affine->from.ld : affine->from.bias;
    Scalar factor = affine->factor;
#pragma omp simd
    for (size_t c = 0; c < at.count; c++) {
        to[c] = factor * from[at.first + c];
    }
    if (at.row < n && affine->bias != NULL) {
        const Scalar *bias = affine->bias + at.first;
#pragma omp simd
        for (size_t c = 0; c < at.count; c++) {
            to[c] += bias[c];
        }
        scalar_round(heads->scores.pass->formats->operand, to, at.count);
    }
}

/* Position scores of a row toward itself and the bias row, where each head has extra coefficients
 * of its own. */
static void extra_positions(RowWeights *weights, const GroupHeads *heads, Stretch at)
{
    const GroupScores *scores = &heads->scores;
    size_t bias = layout_bias_row(scores->layout);
    size_t row = at.row < scores->n ? layout_token_row(scores->layout, at.row) : bias;
    for (size_t c = 0; c < at.count; c++) {
        size_t h = heads->first + at.first + c;
        int to_self = score_position(scores->layout, scores->score, h, row, row);
        int to_bias = score_position(scores->layout, scores->score, h, row, bias);
        weights->self[c] = position_value(scores->pass, to_self);
        weights->bias[c] = position_value(scores->pass, to_bias);
    }
}

/* Position scores of a row toward itself, other tokens and the bias row. */
static void position_scores(RowWeights *weights, const GroupHeads *heads, Stretch at)
{
    const GroupScores *scores = &heads->scores;
    bool token = at.row < scores->n;
    for (size_t c = 0; c < at.count; c++) {
        weights->self[c] = scores->token_self;
        weights->other[c] = token ? scores->token_token : scores->bias_token;
        weights->bias[c] = token ? scores->token_bias : scores->bias_self;
    }
    if (scores->score->extra != NULL) {
        extra_positions(weights, heads, at);
    }
}

/* Content added to position scores; -infinity for a group that is not seen.  Scores are rounded:
 * what Omega's size took from them is what is measured. */
static void add_content(RowWeights *weights, const Scalar *content, const GroupScores *scores,
                        Stretch at)
{
    NumberFormat format = scores->pass->formats->score;
    bool token = at.row < scores->n, sees_bias = sees_bias_row(scores, at.row);
    bool others = groups_others(scores, at.row) > 0;
#pragma omp simd
    for (size_t c = 0; c < at.count; c++) {
        weights->self[c] = token ? content[c] + weights->self[c] : -INFINITY;
        weights->other[c] = others ? content[c] + weights->other[c] : -INFINITY;
        weights->bias[c] = sees_bias ? weights->bias[c] : -INFINITY;
    }
    scalar_round(format, weights->self, at.count);
    scalar_round(format, weights->other, at.count);
}

/* Scores less their maximum. */
static void shift_scores(RowWeights *weights, size_t count)
{
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        Scalar self = weights->self[c], other = weights->other[c], bias = weights->bias[c];
        Scalar max = self > bias ? self : bias;
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
        Scalar self = weights->self[c], other = weights->other[c], bias = weights->bias[c];
        if (other == 0) {
            weights->self[c] = exp_shifted(self);
            weights->bias[c] = exp_shifted(bias);
        } else {
            Scalar e = exp_shifted(self == 0 ? bias : self);
            weights->self[c] = self == 0 ? 1 : e;
            weights->bias[c] = self == 0 ? e : 1;
        }
        weights->other[c] = exp_shifted(other);
    }
}

static void divide_by_total(RowWeights *weights, size_t others, size_t count)
{
    Scalar number = (Scalar)others;
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        Scalar total = weights->self[c] + number * weights->other[c] + weights->bias[c];
        Scalar self = weights->self[c] / total;
        weights->self[c] = self;
        weights->other[c] /= total;
        weights->bias[c] /= total;
    }
}

/* Content scores of a row: its gates, times scale, plus shift, each rounded. */
static void gate_scores(Scalar *content, const GroupHeads *heads, Stretch at)
{
    NumberFormat format = heads->scores.pass->formats->score;
    affine_row(content, heads, &heads->gates, at);
    if (heads->scale != 1) {
        for (size_t c = 0; c < at.count; c++) {
            content[c] *= heads->scale;
        }
        scalar_round(format, content, at.count);
    }
    if (heads->shift != NULL && at.row < heads->scores.n) {
        for (size_t c = 0; c < at.count; c++) {
            content[c] += heads->shift[at.first + c];
        }
        scalar_round(format, content, at.count);
    }
}

/* Weights of a row for heads from heads->first + at.first on. */
static void row_weights(RowWeights *weights, const GroupHeads *heads, Stretch at)
{
    const Formats *formats = heads->scores.pass->formats;
    Scalar content[COLUMNS];
    gate_scores(content, heads, at);
    position_scores(weights, heads, at);
    add_content(weights, content, &heads->scores, at);
    shift_scores(weights, at.count);
    exponentials(weights, at.count);
    divide_by_total(weights, groups_others(&heads->scores, at.row), at.count);
    scalar_round(formats->operand, weights->self, at.count);
    scalar_round(formats->operand, weights->other, at.count);
    scalar_round(formats->operand, weights->bias, at.count);
}

Groups groups_weights(const GroupHeads *heads, size_t i, size_t head)
{
    RowWeights weights;
    row_weights(&weights, heads, (Stretch){i, head, 1});
    return (Groups){weights.self[0], weights.other[0], weights.bias[0]};
}

/* Repeats weights, one for each head, so that there is one for each column: columns first, ...,
 * first + count - 1, `width` of them a head.  weights[0] is the first column's head's. */
static void spread(Scalar *weights, size_t first, size_t count, size_t width)
{
    size_t end = count;
    for (size_t h = (first + count - 1) / width - first / width + 1; h-- > 0;) {
        size_t start = h == 0 ? 0 : (first / width + h) * width - first;
        Scalar weight = weights[h];
        for (size_t c = start; c < end; c++) {
            weights[c] = weight;
        }
        end = start;
    }
}

typedef struct {
    const GroupHeads *heads;
    Rows out;
    Scalar factor;
    bool add;
} Attend;

/* Values that a row attends to, column by column. */
typedef struct {
    Scalar self[COLUMNS], others[COLUMNS], bias[COLUMNS];
} RowValues;

/* out = the weights times the values; others hold the row itself too when it is a token that sees
 * all of them. */
static void combine(Scalar *out, const RowWeights *weights, const RowValues *values,
                    bool take_off_self, size_t count)
{
#pragma omp simd
    for (size_t c = 0; c < count; c++) {
        Scalar others = take_off_self ? values->others[c] - values->self[c] : values->others[c];
        Scalar sum = weights->self[c] != 0 ? weights->self[c] * values->self[c] : 0;
        sum = weights->other[c] != 0 ? sum + weights->other[c] * others : sum;
        out[c] = weights->bias[c] != 0 ? sum + weights->bias[c] * values->bias[c] : sum;
    }
}

static void add_row(Scalar *sum, const Scalar *row, size_t columns)
{
#pragma omp simd
    for (size_t c = 0; c < columns; c++) {
        sum[c] += row[c];
    }
}

static void store(const Attend *attend, const Scalar *result, Stretch at)
{
    const GroupScores *scores = &attend->heads->scores;
    Scalar *out = rows_row(attend->out, scores->n, at.row) + at.first;
    Scalar factor = attend->factor;
#pragma omp simd
    for (size_t c = 0; c < at.count; c++) {
        out[c] = attend->add ? out[c] + factor * result[c] : factor * result[c];
    }
    if (!attend->add) {
        scalar_round(scores->pass->formats->operand, out, at.count);
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
    Scalar result[COLUMNS];
    (void)thread;
    if (scores->bias_row) {
        affine_row(values.bias, heads, &heads->in, (Stretch){n, first, count});
    }
    for (size_t i = 0; all && i < n; i++) {
        affine_row(values.self, heads, &heads->in, (Stretch){i, first, count});
        add_row(values.others, values.self, count);
    }
    for (size_t i = 0; i < n + scores->bias_row; i++) {
        row_weights(&weights, heads, (Stretch){i, head, head_count});
        if (width > 1) {
            spread(weights.self, first, count, width);
            spread(weights.other, first, count, width);
            spread(weights.bias, first, count, width);
        }
        if (i < n) {
            affine_row(values.self, heads, &heads->in, (Stretch){i, first, count});
        }
        combine(result, &weights, &values, i < n && all, count);
        store(attend, result, (Stretch){i, first, count});
        if (earlier) {
            add_row(values.others, values.self, count);
        }
    }
}

void groups_attend(const GroupHeads *heads, Rows out, Scalar factor, bool add)
{
    Attend attend = {heads, out, factor, add};
    size_t columns = heads->heads * heads->width;
    each(columns / COLUMNS + (columns % COLUMNS != 0), heads->scores.pass->threads, attend_columns,
         &attend);
}
