#include "model.h"
#include "fault.h"

#include <stdint.h>

size_t layout_rows(const Layout *layout)
{
    return layout->n + (layout->bias_row != BIAS_ROW_NONE);
}

size_t layout_content(const Layout *layout)
{
    return layout->d + layout->hidden;
}

size_t layout_width(const Layout *layout)
{
    size_t positions = layout->bias_row == BIAS_ROW_MASKED ? 1 : layout->n + 1;
    return layout_content(layout) + (layout->bias_row == BIAS_ROW_NONE ? 0 : positions);
}

size_t layout_token_row(const Layout *layout, size_t i)
{
    return i + (layout->bias_row == BIAS_ROW_FIRST);
}

size_t layout_bias_row(const Layout *layout)
{
    switch (layout->bias_row) {
    case BIAS_ROW_FIRST: return 0;
    case BIAS_ROW_LAST:
    case BIAS_ROW_MASKED: return layout->n;
    default: return SIZE_MAX;
    }
}

size_t layout_token_columns(const Layout *layout)
{
    if (layout->bias_row == BIAS_ROW_NONE) {
        return 0;
    }
    return layout->bias_row == BIAS_ROW_MASKED ? 1 : layout->n;
}

size_t layout_token_column(const Layout *layout, size_t i)
{
    return layout_content(layout) +
           (layout->bias_row == BIAS_ROW_MASKED ? i : layout_token_row(layout, i));
}

int layout_position_score(const Layout *layout, const PositionScores *position, size_t i, size_t j)
{
    size_t bias = layout_bias_row(layout);
    if (bias == SIZE_MAX) {
        return 0;
    }
    if (i == bias) {
        return j == bias ? position->bias_self : position->bias_token;
    }
    if (j == bias) {
        return position->token_bias;
    }
    return i == j ? position->token_self : position->token_token;
}

int score_position(const Layout *layout, const Score *score, size_t h, size_t i, size_t j)
{
    int coefficient = layout_position_score(layout, &score->position, i, j);
    if (score->extra != NULL) {
        coefficient += score->extra[h * score->extra_stride + i * layout_rows(layout) + j];
    }
    return coefficient;
}

bool score_sees(const Layout *layout, const Score *score, size_t i, size_t j)
{
    switch (score->visible) {
    case VISIBLE_EARLIER: return j <= i;
    case VISIBLE_SELF: return j == i;
    case VISIBLE_SELF_AND_BIAS: return j == i || j == layout_bias_row(layout);
    case VISIBLE_LISTED: return score->listed[i * layout_rows(layout) + j] != 0;
    default: return true;
    }
}

/* Do all keys that row i of head h sees share one coefficient, and are they exact? */
static bool row_exact(const Layout *layout, const Score *score, size_t h, size_t i, bool tokens,
                      bool bias)
{
    bool first = true;
    int common = 0;
    for (size_t j = 0; j < layout_rows(layout); j++) {
        if (!score_sees(layout, score, i, j)) {
            continue;
        }
        int coefficient = score_position(layout, score, h, i, j);
        common = first ? coefficient : common;
        first = false;
        if (coefficient != common || !(j == layout_bias_row(layout) ? bias : tokens)) {
            return false;
        }
    }
    return true;
}

/* Folds a bundle into what is exact after its sublayer, from what was before it. */
static void fold_exact(const Layout *layout, const Bundle *bundle, bool tokens, bool bias,
                       bool *tokens_next, bool *bias_next)
{
    const Score *score = &bundle->score;
    size_t heads = score->extra != NULL && score->extra_stride > 0 ? bundle->heads : 1;
    for (size_t h = 0; h < heads; h++) {
        for (size_t i = 0; i < layout_rows(layout); i++) {
            bool *next = i == layout_bias_row(layout) ? bias_next : tokens_next;
            *next = *next && row_exact(layout, score, h, i, tokens, bias);
        }
    }
}

size_t model_layers_independent_of_omega(const Model *model)
{
    const Layout *layout = &model->layout;
    bool tokens = true, bias = true;
    if (layout->bias_row == BIAS_ROW_NONE) {
        return model->depth;
    }
    for (size_t l = 0, s = 0; l < model->depth; l++) {
        for (; s < model->layer_end[l]; s++) {
            bool tokens_next = tokens, bias_next = bias;
            for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
                fold_exact(layout, &model->sublayers[s].bundles[b], tokens, bias, &tokens_next,
                           &bias_next);
            }
            tokens = tokens_next;
            bias = bias_next;
        }
        if (!tokens) {
            return l;
        }
    }
    return model->depth;
}

static bool bias_row_sees_tokens(const Layout *layout, const Score *score)
{
    for (size_t i = 0; i < layout->n; i++) {
        if (score_sees(layout, score, layout_bias_row(layout), layout_token_row(layout, i))) {
            return true;
        }
    }
    return false;
}

bool model_bias_row_stays_zero(const Model *model)
{
    if (model->layout.bias_row == BIAS_ROW_NONE) {
        return true;
    }
    for (size_t s = 0; s < model->sublayer_count; s++) {
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            if (bias_row_sees_tokens(&model->layout, &model->sublayers[s].bundles[b].score)) {
                return false;
            }
        }
    }
    return true;
}
