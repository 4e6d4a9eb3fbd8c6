/*
 * Questions that a model as data answers: its extents, the position part of a score, and what a row
 * sees.
 */
#include "model.h"

#include <limits.h>
#include <stdint.h>

size_t model_first(const Model *model, size_t l)
{
    return l > 0 ? model->layer_end[l - 1] : 0;
}

bool model_goes_on(const Model *model, size_t s)
{
    return s + 1 < model->sublayer_count && model->sublayers[s + 1].beside;
}

bool model_enter(const Model *model, size_t l)
{
    return model->layers == NULL || model->layers->enter(model->layers, l);
}

void model_leave(const Model *model, size_t l)
{
    if (model->layers != NULL) {
        model->layers->leave(model->layers, l);
    }
}

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

Start pair_start(const Pair *pair, double omega)
{
    return (Start){&pair->converted, pair->converted_x, pair->bias_row_content, omega};
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

bool score_by_key(const Score *score)
{
    return score->kind == SCORE_BILINEAR;
}

bool score_by_gate(const Score *score)
{
    return score->kind == SCORE_GATE;
}

size_t score_query_width(const Score *score)
{
    return score->d_head > 0 ? score->d_head : score->read.count;
}

bool score_is_mixed(const Score *score)
{
    return score->mix.data != NULL;
}

size_t score_own(const Score *score, size_t h)
{
    return score_is_mixed(score) ? 0 : h * score_query_width(score);
}

Columns score_query_columns(const Score *score)
{
    return score->query.count > 0 ? score->query : score->read;
}

bool value_is_sign(const Value *value)
{
    return value->d_head > 0 && value->v.data == NULL;
}

bool value_has_bias(const Value *value)
{
    return value->bias != NULL || value->bias_row != 0;
}

size_t value_width(const Value *value)
{
    return value->unit != 0        ? 1
           : value->d_head > 0     ? value->d_head
           : value->v.data != NULL ? value->write.count
                                   : 0;
}

static bool same_weight(const HeadWeight *a, const HeadWeight *b)
{
    return a->data == b->data && a->ld == b->ld && a->head_stride == b->head_stride;
}

bool columns_equal(Columns a, Columns b)
{
    return a.first == b.first && a.count == b.count;
}

bool bundle_gate_is_value(const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    return value->d_head == 1 && score->gate.data != NULL && same_weight(&score->gate, &value->v) &&
           columns_equal(score->read, value->read);
}

static bool alike(const Bundle *a, const Bundle *b)
{
    return bundle_gate_is_value(a) && bundle_gate_is_value(b) && a->heads == b->heads &&
           a->value.scale != 1 && b->value.scale != 1 &&
           same_weight(&a->score.gate, &b->score.gate) && same_weight(&a->value.o, &b->value.o) &&
           columns_equal(a->value.read, b->value.read) &&
           columns_equal(a->value.write, b->value.write);
}

size_t bundles_alike(const Bundle *bundles, size_t count)
{
    size_t same = 1;
    while (same < count && alike(bundles, bundles + same)) {
        same++;
    }
    return same;
}

static bool takes_back(const Bundle *sign, const Bundle *back)
{
    const Columns write = sign->value.write;
    return value_is_sign(&sign->value) && sign->heads == write.count &&
           back->value.bias_row == sign->value.scale && columns_equal(write, back->value.write);
}

bool bundle_is_taken_back(const Sublayer *sublayer, size_t b)
{
    const Bundle *bundles = sublayer->bundles;
    return (b > 0 && takes_back(&bundles[b - 1], &bundles[b])) ||
           (b + 1 < sublayer->bundle_count && takes_back(&bundles[b], &bundles[b + 1]));
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

void score_positions(const Layout *layout, const Score *score, size_t h, size_t i, int *coefficient)
{
    const PositionScores *position = &score->position;
    size_t rows = layout_rows(layout), bias = layout_bias_row(layout);
    int token = i == bias ? position->bias_token : position->token_token;
    for (size_t j = 0; j < rows; j++) {
        coefficient[j] = bias != SIZE_MAX ? token : 0;
    }
    coefficient[i] = layout_position_score(layout, position, i, i);
    if (bias != SIZE_MAX) {
        coefficient[bias] = layout_position_score(layout, position, i, bias);
    }
    for (size_t j = 0; score->extra != NULL && j < rows; j++) {
        coefficient[j] += score->extra[h * score->extra_stride + i * rows + j];
    }
    size_t seen = score->visible == VISIBLE_EARLIER ? i + 1
                  : score->visible == VISIBLE_ALL   ? rows
                                                    : 0;
    for (size_t j = seen; j < rows; j++) {
        bool sees = score->visible != VISIBLE_EARLIER && score_sees(layout, score, i, j);
        coefficient[j] = sees ? coefficient[j] : KEY_HIDDEN;
    }
}
