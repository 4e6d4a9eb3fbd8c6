/*
 * The promises that a model must keep, and the faults that model_fault names.
 */
#include "model.h"

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

/* Entries outside what a score without a key's own content allows (see Score). */
static bool extra_tells_tokens_apart(const Layout *layout, const Bundle *bundle)
{
    size_t rows = layout_rows(layout), bias = layout_bias_row(layout);
    size_t heads = bundle->score.extra_stride > 0 ? bundle->heads : 1;
    for (size_t e = 0; e < heads * rows * rows; e++) {
        size_t h = e / (rows * rows), i = e / rows % rows, j = e % rows;
        if (i != j && j != bias &&
            bundle->score.extra[h * bundle->score.extra_stride + i * rows + j] != 0) {
            return true;
        }
    }
    return false;
}

static bool list_leaves_a_row_blind(const Layout *layout, const unsigned char *listed)
{
    size_t rows = layout_rows(layout);
    for (size_t i = 0; i < rows; i++) {
        size_t seen = 0;
        for (size_t j = 0; j < rows; j++) {
            seen += listed[i * rows + j] != 0;
        }
        if (seen == 0) {
            return true;
        }
    }
    return false;
}

/* Faults of masks and of coefficients of Omega. */
static const char *sight_fault(const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const PositionScores *p = &score->position;
    bool bilinear = score->kind == SCORE_BILINEAR, bias_row = layout->bias_row != BIAS_ROW_NONE;
    if (score->visible == VISIBLE_EARLIER && layout_bias_row(layout) == layout->n) {
        return "under a causal mask the bias row must come first: "
               "a token cannot see a bias row that is last";
    }
    if (score->visible == VISIBLE_LISTED &&
        (!bilinear || score->listed == NULL || list_leaves_a_row_blind(layout, score->listed))) {
        return "a listed mask belongs to bilinear scores and leaves no row without a key";
    }
    if (score->extra != NULL && (!bias_row || layout->bias_row == BIAS_ROW_MASKED)) {
        return "extra coefficients of Omega without position columns";
    }
    if (score->extra != NULL && !bilinear && extra_tells_tokens_apart(layout, bundle)) {
        return "extra coefficients of Omega that tell tokens apart without bilinear scores";
    }
    if (layout->bias_row == BIAS_ROW_MASKED &&
        (p->token_self != 0 || p->token_token != 0 || p->token_bias != 0 || p->bias_self != 0 ||
         p->bias_token != 0)) {
        return "position scores without position columns";
    }
    return NULL;
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
    bool mixed = score_is_mixed(score);
    if (score->kind == SCORE_BILINEAR &&
        ((score->q.data == NULL && !mixed) || (score->d_head > 0 && score->k.data == NULL))) {
        return "a bilinear score without its weights";
    }
    Columns query = score->query;
    if (mixed && (score->rotary != NULL || score->kind != SCORE_BILINEAR || score->d_head == 0 ||
                  score->q.head_stride != 0 || score->k.head_stride != 0 ||
                  (score->q.data == NULL) != (query.count == score->d_head))) {
        return "mixed queries without a query and a key that all heads share";
    }
    if (query.count > 0 && (!mixed || score->q.data != NULL || !columns_fit(layout, query))) {
        return "columns of a query that is not made of them";
    }
    if (score->kind == SCORE_GATE && !scale_fits(score->gate_scale)) {
        return "a gate's scale is not a finite number other than 0";
    }
    if (score->kind != SCORE_GATE && (score->gate.data != NULL || score->gate_unit != 0 ||
                                      score->gate_bias != NULL || score->gate_shift != NULL)) {
        return "what is of a gate, without one";
    }
    if ((score->q_bias != NULL || score->k_bias != NULL) &&
        (score->kind != SCORE_BILINEAR || score->d_head == 0)) {
        return "query and key biases without factors";
    }
    const Rotary *rotary = score->rotary;
    if (rotary != NULL &&
        (score->kind != SCORE_BILINEAR || rotary->width == 0 || rotary->width % 2 != 0 ||
         rotary->width > score->d_head || rotary->positions < layout->n || rotary->cos == NULL ||
         rotary->sin == NULL)) {
        return "rotary positions of no factors, of an odd part of a head, or of one beyond it";
    }
    if (score->kind == SCORE_BILINEAR &&
        (score->scale.num <= 0 || score->scale.den <= 0 || score->scale.sqrt_den <= 0)) {
        return "a score's scale is not positive";
    }
    return sight_fault(layout, bundle);
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
    bool factored = value->kind == VALUE_FACTORED, matrix = factored || value->kind == VALUE_DENSE;
    bool absent = factored && value->d_head == 1; /* a factor may be */
    if (((value->v.data != NULL) != matrix && !absent) ||
        (value->unit != 0) != (value->kind == VALUE_UNIT)) {
        return "a head's value without its weights, or with others";
    }
    if (absent && value->o.data == NULL && bundle->heads > value->write.count) {
        return "more unit values than columns";
    }
    bool by_key = score_by_key(&bundle->score);
    if (value_is_sign(value) &&
        (layout->bias_row == BIAS_ROW_NONE || value->inner_bias != NULL || !by_key)) {
        return "a row's sign as a value without a bias row and bilinear scores, or with a bias";
    }
    if (((value->o.data != NULL) != factored && !absent) || (value->d_head > 0) != factored) {
        return "a factored value without its second factor, or another one with it";
    }
    if (value->inner_bias != NULL && !factored) {
        return "an inner bias without factors";
    }
    if (value->diagonal != 0 &&
        (bundle->heads != 1 || (value->kind != VALUE_DENSE && value->kind != VALUE_NONE))) {
        return "a diagonal belongs to a single dense head";
    }
    if (value->diagonal != 0 && !columns_fit(layout, value->read)) {
        return "a head reads columns outside the stream's content";
    }
    if (!(value->bias_row - value->bias_row == 0) ||
        (value->bias_row != 0 && (layout->bias_row == BIAS_ROW_NONE || by_key))) {
        return "a value of the bias row that is not finite, or without one, or of bilinear scores";
    }
    if ((matrix && !factored && value->scale != 1) ||
        (value->kind != VALUE_NONE && !scale_fits(value->scale))) {
        return "a value's scale is not a finite number other than 0, or that of a matrix not 1";
    }
    return NULL;
}

static const char *norm_fault(const Layout *layout, const LayerNorm *norm)
{
    if (norm->kind == NORMALIZATION_NONE) {
        return NULL;
    }
    if (!columns_fit(layout, norm->columns)) {
        return "a norm of columns outside the stream's content";
    }
    if (norm->gamma == NULL || (norm->kind == NORMALIZATION_RMSNORM && norm->beta != NULL)) {
        return "a norm without gamma, or an RMSNorm with beta";
    }
    if (!(norm->eps > 0) || norm->eps - norm->eps != 0) {
        return "a norm's eps is not a finite number above 0";
    }
    return NULL;
}

static const char *direct_fault(const Layout *layout, const Direct *direct)
{
    if (layout->bias_row != BIAS_ROW_NONE && direct->kind != DIRECT_NORM) {
        return "a direct operation belongs to an original model, without a bias row";
    }
    if (!columns_fit(layout, direct->read) || !columns_fit(layout, direct->write)) {
        return "a direct operation outside the stream's content";
    }
    bool in_place = columns_equal(direct->read, direct->write);
    if (direct->kind == DIRECT_FFN && (!direct->w1 || !direct->w2 || !direct->hidden)) {
        return "a feed-forward network without its weights";
    }
    bool gate_alone = direct->activation == ACTIVATION_SIGMOID ||
                      direct->activation == ACTIVATION_NONE; /* of a gated network */
    if (gate_alone && (direct->kind != DIRECT_FFN || direct->w3 == NULL)) {
        return "an activation of gated networks without one";
    }
    if (direct->kind == DIRECT_LINEAR &&
        (!direct->w1 || (direct->replace && !in_place) || (direct->clear && in_place))) {
        return "a linear map that replaces other columns than it reads, or clears what it writes";
    }
    if (direct->kind == DIRECT_ACTIVATION && !in_place) {
        return "an activation that moves columns";
    }
    return NULL;
}

static const char *sublayer_fault(const Layout *layout, const Sublayer *sublayer)
{
    const char *norm = norm_fault(layout, &sublayer->norm);
    if (norm != NULL) {
        return norm;
    }
    if (sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM &&
        sublayer->norm.kind == NORMALIZATION_NONE) {
        return "a norm that is none";
    }
    if (sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_ACTIVATION &&
        sublayer->norm.kind != NORMALIZATION_NONE) {
        return "an activation of x itself reads no norm";
    }
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

/* Does it add to the content what it makes of its norm? */
static bool adds_of_norm(const Sublayer *sublayer)
{
    const Direct *direct = &sublayer->direct;
    return sublayer->norm.kind != NORMALIZATION_NONE &&
           (sublayer->bundle_count > 0 || (direct->kind == DIRECT_FFN && direct->write.first == 0));
}

/* Of the first sublayer of a layer and those behind it. */
static const char *beside_fault(const Model *model, size_t first, size_t end)
{
    for (size_t s = first; s < end; s++) {
        const Sublayer *own = &model->sublayers[s];
        if (own->beside && (s == first || !adds_of_norm(own) || !adds_of_norm(own - 1))) {
            return "parts of a layer that are parallel without norms, heads or a network";
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
        const char *fault = model->layer_end[l] <= model->sublayer_count
                                ? beside_fault(model, end, model->layer_end[l])
                                : NULL;
        if (fault != NULL) {
            return fault;
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
