/*
 * The promises that a model must keep, and the faults that model_fault names.
 */
#include "model.h"

static bool columns_fit(const Layout *layout, Columns columns)
{
    size_t content = layout_content(layout);
    return columns.count > 0 && columns.first < content && columns.count <= content - columns.first;
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

/* A promise that is broken, and what to say of it. */
typedef struct {
    bool broken;
    const char *fault;
} Rule;

static const char *first_fault(const Rule *rules, size_t count)
{
    size_t r = 0;
    while (r < count && !rules[r].broken) {
        r++;
    }
    return r < count ? rules[r].fault : NULL;
}

/* Faults of masks and of coefficients of Omega. */
static const char *sight_fault(const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const PositionScores *p = &score->position;
    bool bilinear = score->kind == SCORE_BILINEAR, bias_row = layout->bias_row != BIAS_ROW_NONE,
         masked = layout->bias_row == BIAS_ROW_MASKED;
    const Rule rules[] = {
        {score->visible == VISIBLE_EARLIER && layout_bias_row(layout) == layout->n,
         "under a causal mask the bias row must come first: "
         "a token cannot see a bias row that is last"},
        {score->visible == VISIBLE_LISTED &&
             (!bilinear || score->listed == NULL || list_leaves_a_row_blind(layout, score->listed)),
         "a listed mask belongs to bilinear scores and leaves no row without a key"},
        {score->extra != NULL && (!bias_row || masked),
         "extra coefficients of Omega without position columns"},
        {score->extra != NULL && !bilinear && extra_tells_tokens_apart(layout, bundle),
         "extra coefficients of Omega that tell tokens apart without bilinear scores"},
        {masked && (p->token_self != 0 || p->token_token != 0 || p->token_bias != 0 ||
                    p->bias_self != 0 || p->bias_token != 0),
         "position scores without position columns"},
    };
    return first_fault(rules, sizeof rules / sizeof *rules);
}

static const char *score_fault(const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Rotary *rotary = score->rotary;
    Columns query = score->query;
    bool gate = score->kind == SCORE_GATE, bilinear = score->kind == SCORE_BILINEAR,
         mixed = score_is_mixed(score), factored = bilinear && score->d_head > 0;
    const Rule rules[] = {
        {score->kind != SCORE_NONE && !columns_fit(layout, score->read),
         "a head scores columns outside the stream's content"},
        {gate && layout->bias_row == BIAS_ROW_NONE, "a gated head needs a bias row"},
        {gate && score->gate.data == NULL && bundle->heads > score->read.count,
         "more unit gates than columns"},
        {(bilinear && score->q.data == NULL && !mixed) || (factored && score->k.data == NULL),
         "a bilinear score without its weights"},
        {mixed && (rotary != NULL || !factored || score->q.head_stride != 0 ||
                   score->k.head_stride != 0 ||
                   (score->q.data == NULL) != (query.count == score->d_head)),
         "mixed queries without a query and a key that all heads share"},
        {query.count > 0 && (!mixed || score->q.data != NULL || !columns_fit(layout, query)),
         "columns of a query that is not made of them"},
        {gate && !scale_fits(score->gate_scale),
         "a gate's scale is not a finite number other than 0"},
        {!gate && (score->gate.data != NULL || score->gate_unit != 0 || score->gate_bias != NULL ||
                   score->gate_shift != NULL),
         "what is of a gate, without one"},
        {(score->q_bias != NULL || score->k_bias != NULL) && !factored,
         "query and key biases without factors"},
        {rotary != NULL && (!bilinear || rotary->width == 0 || rotary->width % 2 != 0 ||
                            rotary->width > score->d_head || rotary->positions < layout->n ||
                            rotary->cos == NULL || rotary->sin == NULL),
         "rotary positions of no factors, of an odd part of a head, or of one beyond it"},
        {bilinear && (score->scale.num <= 0 || score->scale.den <= 0 || score->scale.sqrt_den <= 0),
         "a score's scale is not positive"},
    };
    const char *fault = first_fault(rules, sizeof rules / sizeof *rules);
    return fault != NULL ? fault : sight_fault(layout, bundle);
}

static const char *value_fault(const Layout *layout, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    bool unit = value->unit != 0, factored = value->d_head > 0, none = value_width(value) == 0,
         absent = value->d_head == 1, /* a factor may be */
        by_key = score_by_key(&bundle->score), bias_row = layout->bias_row != BIAS_ROW_NONE,
         writes_more = bundle->heads > value->write.count;
    const Rule rules[] = {
        {!columns_fit(layout, value->write), "a head writes columns outside the stream's content"},
        {!none && !columns_fit(layout, value->read),
         "a head reads columns outside the stream's content"},
        {unit && (bundle->heads > value->read.count || writes_more),
         "more unit values than columns"},
        {(unit && (factored || value->v.data != NULL)) ||
             (factored && !absent && (value->v.data == NULL || value->o.data == NULL)) ||
             (!factored && value->o.data != NULL),
         "a head's value without its weights, or with others"},
        {absent && value->o.data == NULL && writes_more, "more unit values than columns"},
        {value_is_sign(value) && (!bias_row || value->inner_bias != NULL || !by_key),
         "a row's sign as a value without a bias row and bilinear scores, or with a bias"},
        {value->inner_bias != NULL && !factored, "an inner bias without factors"},
        {value->diagonal != 0 && (bundle->heads != 1 || unit || factored),
         "a diagonal belongs to a single dense head"},
        {value->diagonal != 0 && !columns_fit(layout, value->read),
         "a head reads columns outside the stream's content"},
        {!(value->bias_row - value->bias_row == 0) ||
             (value->bias_row != 0 && (!bias_row || by_key)),
         "a value of the bias row that is not finite, or without one, or of bilinear scores"},
        {!none && (!scale_fits(value->scale) || (!unit && !factored && value->scale != 1)),
         "a value's scale is not a finite number other than 0, or that of a matrix not 1"},
    };
    return first_fault(rules, sizeof rules / sizeof *rules);
}

static const char *norm_fault(const Layout *layout, const LayerNorm *norm)
{
    const Rule rules[] = {
        {!columns_fit(layout, norm->columns), "a norm of columns outside the stream's content"},
        {norm->gamma == NULL || (norm->kind == NORMALIZATION_RMSNORM && norm->beta != NULL),
         "a norm without gamma, or an RMSNorm with beta"},
        {!(norm->eps > 0) || norm->eps - norm->eps != 0,
         "a norm's eps is not a finite number above 0"},
    };
    return norm->kind == NORMALIZATION_NONE ? NULL
                                            : first_fault(rules, sizeof rules / sizeof *rules);
}

static const char *direct_fault(const Layout *layout, const Sublayer *sublayer)
{
    const Direct *direct = &sublayer->direct;
    bool normed = sublayer->norm.kind != NORMALIZATION_NONE,
         in_place = columns_equal(direct->read, direct->write), ffn = direct->kind == DIRECT_FFN;
    const Rule rules[] = {
        {direct->kind == DIRECT_NORM && !normed, "a norm that is none"},
        {direct->kind == DIRECT_ACTIVATION && normed, "an activation of x itself reads no norm"},
        {layout->bias_row != BIAS_ROW_NONE && direct->kind != DIRECT_NORM,
         "a direct operation belongs to an original model, without a bias row"},
        {!columns_fit(layout, direct->read) || !columns_fit(layout, direct->write),
         "a direct operation outside the stream's content"},
        {ffn && (!direct->w1 || !direct->w2 || !direct->hidden),
         "a feed-forward network without its weights"},
        {direct->activation >= ACTIVATION_PLAIN && (!ffn || direct->w3 == NULL),
         "an activation of gated networks without one"},
        {direct->kind == DIRECT_LINEAR &&
             (!direct->w1 || (direct->replace && !in_place) || (direct->clear && in_place)),
         "a linear map that replaces other columns than it reads, or clears what it writes"},
        {direct->kind == DIRECT_ACTIVATION && !in_place, "an activation that moves columns"},
    };
    return first_fault(rules, sizeof rules / sizeof *rules);
}

static const char *sublayer_fault(const Layout *layout, const Sublayer *sublayer)
{
    const char *fault = norm_fault(layout, &sublayer->norm);
    if (fault == NULL && sublayer->bundle_count == 0) {
        fault = direct_fault(layout, sublayer);
    }
    for (size_t b = 0; b < sublayer->bundle_count && fault == NULL; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        fault = bundle->heads == 0 ? "a bundle without heads" : score_fault(layout, bundle);
        fault = fault != NULL ? fault : value_fault(layout, bundle);
    }
    return fault;
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
    const char *fault =
        model->layout.n == 0 || model->layout.d == 0 || model->depth == 0 ? "an empty model" : NULL;
    size_t end = 0;
    for (size_t l = 0; l < model->depth && fault == NULL; l++) {
        size_t first = end;
        end = model->layer_end[l];
        fault = end <= first                   ? "a layer without sublayers"
                : end <= model->sublayer_count ? beside_fault(model, first, end)
                                               : NULL;
    }
    if (fault == NULL && end != model->sublayer_count) {
        fault = "sublayers outside every layer";
    }
    for (size_t s = 0; s < model->sublayer_count && fault == NULL; s++) {
        fault = sublayer_fault(&model->layout, &model->sublayers[s]);
    }
    return fault;
}
