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
    size_t positions = layout->bias_row == BIAS_ROW_NONE ? 0 : layout->n + 1;
    return layout_content(layout) + positions;
}

size_t layout_token_row(const Layout *layout, size_t i)
{
    return i + (layout->bias_row == BIAS_ROW_FIRST);
}

size_t layout_bias_row(const Layout *layout)
{
    switch (layout->bias_row) {
    case BIAS_ROW_FIRST: return 0;
    case BIAS_ROW_LAST: return layout->n;
    default: return SIZE_MAX;
    }
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

static bool columns_fit(const Layout *layout, Columns columns)
{
    size_t content = layout_content(layout);
    return columns.count > 0 && columns.first < content && columns.count <= content - columns.first;
}

static bool columns_equal(Columns a, Columns b)
{
    return a.first == b.first && a.count == b.count;
}

/* An exact factor that loses nothing. */
static bool scale_fits(double scale)
{
    return scale - scale == 0 && scale != 0;
}

static const char *score_fault(const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    if (score->kind != SCORE_NONE && !columns_fit(layout, score->read)) {
        return "a head scores columns outside the stream's content";
    }
    if (score->kind == SCORE_GATE && layout->bias_row == BIAS_ROW_NONE) {
        return "a gated head needs a bias row";
    }
    if (score->kind == SCORE_GATE && score->gate.data == NULL &&
        bundle->heads > score->read.count) {
        return "more unit gates than columns";
    }
    if (score->kind == SCORE_BILINEAR &&
        (score->q.data == NULL || (score->d_head > 0 && score->k.data == NULL))) {
        return "a bilinear score without its weights";
    }
    if (score->kind == SCORE_GATE && !scale_fits(score->gate_scale)) {
        return "a gate's scale is not a finite number other than 0";
    }
    if ((score->q_bias != NULL || score->k_bias != NULL) &&
        (score->kind != SCORE_BILINEAR || score->d_head == 0)) {
        return "query and key biases without factors";
    }
    if (score->kind == SCORE_BILINEAR &&
        (score->scale.num <= 0 || score->scale.den <= 0 || score->scale.sqrt_den <= 0)) {
        return "a score's scale is not positive";
    }
    if (FAULT("bias-row-last-accepted", false,
              score->causal && layout->bias_row == BIAS_ROW_LAST)) {
        return "under a causal mask the bias row must come first: "
               "a token cannot see a bias row that is last";
    }
    return NULL;
}

static const char *value_fault(const Layout *layout, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    if (!columns_fit(layout, value->write)) {
        return "a head writes columns outside the stream's content";
    }
    if (value->kind != VALUE_NONE && !columns_fit(layout, value->read)) {
        return "a head reads columns outside the stream's content";
    }
    if (value->kind == VALUE_UNIT &&
        (bundle->heads > value->read.count || bundle->heads > value->write.count)) {
        return "more unit values than columns";
    }
    if ((value->kind == VALUE_DENSE || value->kind == VALUE_FACTORED) && value->v.data == NULL) {
        return "a head's value without its weights";
    }
    if (value->kind == VALUE_FACTORED && (value->o.data == NULL || value->d_head == 0)) {
        return "a factored value without its second factor";
    }
    if (value->inner_bias != NULL && value->kind != VALUE_FACTORED) {
        return "an inner bias without factors";
    }
    if (value->diagonal != 0 && (bundle->heads != 1 || value->kind != VALUE_DENSE)) {
        return "a diagonal belongs to a single dense head";
    }
    if ((value->kind == VALUE_UNIT || value->kind == VALUE_FACTORED) && !scale_fits(value->scale)) {
        return "a value's scale is not a finite number other than 0";
    }
    return NULL;
}

static const char *direct_fault(const Layout *layout, const Direct *direct)
{
    if (layout->bias_row != BIAS_ROW_NONE) {
        return "a direct operation belongs to an original model, without a bias row";
    }
    if (!columns_fit(layout, direct->read) || !columns_fit(layout, direct->write)) {
        return "a direct operation outside the stream's content";
    }
    bool in_place = columns_equal(direct->read, direct->write);
    if (direct->kind == DIRECT_FFN && (!direct->w1 || !direct->w2 || !direct->hidden)) {
        return "a feed-forward network without its weights";
    }
    if (direct->kind == DIRECT_LINEAR &&
        (!direct->w1 || direct->replace != in_place || (direct->clear && in_place))) {
        return "a linear map that neither replaces its columns nor writes others";
    }
    if (direct->kind == DIRECT_ACTIVATION && !in_place) {
        return "an activation that moves columns";
    }
    return NULL;
}

static const char *sublayer_fault(const Layout *layout, const Sublayer *sublayer)
{
    if (sublayer->bundle_count == 0) {
        return direct_fault(layout, &sublayer->direct);
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        if (bundle->heads == 0) {
            return "a bundle without heads";
        }
        const char *fault = score_fault(layout, bundle);
        if (fault == NULL) {
            fault = value_fault(layout, bundle);
        }
        if (fault != NULL) {
            return fault;
        }
    }
    return NULL;
}

const char *model_fault(const Model *model)
{
    if (model->layout.n == 0 || model->layout.d == 0 || model->depth == 0) {
        return "an empty model";
    }
    size_t end = 0;
    for (size_t l = 0; l < model->depth; l++) {
        if (model->layer_end[l] <= end) {
            return "a layer without sublayers";
        }
        end = model->layer_end[l];
    }
    if (end != model->sublayer_count) {
        return "sublayers outside every layer";
    }
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const char *fault = sublayer_fault(&model->layout, &model->sublayers[s]);
        if (fault != NULL) {
            return fault;
        }
    }
    return NULL;
}

/* Does the bias row see a token, and do all keys it sees share one coefficient? */
static bool bias_row_sees_tokens(const Layout *layout, const Score *score)
{
    return !(score->causal && layout->bias_row == BIAS_ROW_FIRST);
}

static bool bias_row_exact(const Layout *layout, const Score *score, bool tokens_exact)
{
    if (!bias_row_sees_tokens(layout, score)) {
        return true;
    }
    return tokens_exact && score->position.bias_self == score->position.bias_token;
}

static bool token_rows_exact(const Layout *layout, const Score *score, bool bias_exact)
{
    const PositionScores *position = &score->position;
    bool others_agree = layout->n == 1 || position->token_self == position->token_token;
    return bias_exact && others_agree && position->token_self == position->token_bias;
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
                const Score *score = &model->sublayers[s].bundles[b].score;
                tokens_next = tokens_next && tokens && token_rows_exact(layout, score, bias);
                bias_next = bias_next && bias && bias_row_exact(layout, score, tokens);
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
