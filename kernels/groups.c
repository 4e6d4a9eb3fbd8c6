/*
 * Heads whose scores tell keys apart only as "itself", "another token" and "the bias row":
 * no pattern is ever formed, a row costs a few operations a column.
 */
#include "structured.h"

#include "../cases/fault.h"

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
    switch (scores->score->visible) {
    case VISIBLE_ALL: return scores->n - 1;
    case VISIBLE_EARLIER: return i;
    default: return 0;
    }
}

size_t groups_tokens_of_bias_row(const GroupScores *scores)
{
    return scores->score->visible == VISIBLE_ALL ? scores->n : 0;
}

/* What a head has for single entries, added to a coefficient before Omega multiplies it. */
static double with_extra(const GroupScores *scores, double regular, size_t h, size_t i, size_t j)
{
    return scores->score->extra == NULL
               ? regular
               : score_position(scores->layout, scores->score, h, i, j) * scores->omega;
}

/* Softmax over the row itself (if it is a token), others tokens and the bias row (if any).
 * The scores are doubles already: what Omega's size took from them is what is measured. */
static inline Groups softmax(Groups score, bool token, size_t others, bool bias_row)
{
    double max = -INFINITY;
    max = token && score.self > max ? score.self : max;
    max = others > 0 && score.other > max ? score.other : max;
    max = bias_row && score.bias > max ? score.bias : max;
    double self = token ? exp_shifted(score.self - max) : 0;
    double other = others > 0 ? exp_shifted(score.other - max) : 0;
    double bias = bias_row ? exp_shifted(score.bias - max) : 0;
    double total = self + FAULT("others-counted-once", 1, (double)others) * other + bias;
    return (Groups){self / total, other / total, bias / total};
}

Groups groups_of_token(const GroupScores *scores, double content, size_t h, size_t i)
{
    size_t row = layout_token_row(scores->layout, i), bias = layout_bias_row(scores->layout);
    bool sees_bias = scores->bias_row && scores->score->visible != VISIBLE_SELF;
    Groups score = {content + with_extra(scores, scores->token_self, h, row, row),
                    content + scores->token_token,
                    with_extra(scores, scores->token_bias, h, row, bias)};
    return softmax(score, true, groups_others(scores, i), sees_bias);
}

Groups groups_of_bias_row(const GroupScores *scores, double content, size_t h)
{
    size_t bias = layout_bias_row(scores->layout);
    Groups score = {0, content + scores->bias_token,
                    with_extra(scores, scores->bias_self, h, bias, bias)};
    return softmax(score, false, groups_tokens_of_bias_row(scores), true);
}

/* out [width]; others holds u of the row itself too when it is to be taken off. */
static inline void combine(double *out, Groups weight, const double *self, const double *others,
                           const double *bias, bool take_off_self, size_t width)
{
    for (size_t c = 0; c < width; c++) {
        double sum = 0;
        if (weight.self != 0) {
            sum = weight.self * self[c];
        }
        if (weight.other != 0) {
            sum += weight.other * (take_off_self ? others[c] - self[c] : others[c]);
        }
        if (weight.bias != 0) {
            sum += weight.bias * bias[c];
        }
        out[c] = sum;
    }
}

static void add_row(double *sum, const double *row, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        sum[c] += row[c];
    }
}

void groups_attend(const GroupScores *scores, Rows out, ConstRows in, ConstRows gates,
                   double *others, size_t head, size_t heads, size_t width)
{
    size_t n = scores->n, columns = heads * width;
    bool all = scores->score->visible == VISIBLE_ALL;
    bool earlier = scores->score->visible == VISIBLE_EARLIER;
    memset(others, 0, columns * sizeof *others);
    for (size_t i = 0; all && i < n; i++) {
        add_row(others, in.tokens + i * in.ld, columns);
    }
    for (size_t i = 0; i < n; i++) {
        const double *row = in.tokens + i * in.ld;
        for (size_t h = 0; h < heads; h++) {
            double content = gates.tokens == NULL ? 0 : gates.tokens[i * gates.ld + h];
            Groups weight = groups_of_token(scores, content, head + h, i);
            combine(out.tokens + i * out.ld + h * width, weight, row + h * width,
                    others + h * width, in.bias == NULL ? NULL : in.bias + h * width, all, width);
        }
        if (earlier) {
            add_row(others, row, columns);
        }
    }
    for (size_t h = 0; scores->bias_row && h < heads; h++) {
        double content = gates.bias == NULL ? 0 : gates.bias[h];
        Groups weight = groups_of_bias_row(scores, content, head + h);
        combine(out.bias + h * width, weight, NULL, others + h * width, in.bias + h * width, false,
                width);
    }
}
