/*
 * Counts of heads, ranks, parameters and operations, taken from a model as data, in integers of
 * any size.
 */
#include "cost.h"

void model_cost_init(ModelCost *cost)
{
    *cost = (ModelCost){0};
    for (int of = 0; of < COST_COUNTS; of++) {
        mpz_init(cost->counts[of]);
    }
}

void model_cost_clear(ModelCost *cost)
{
    for (int of = 0; of < COST_COUNTS; of++) {
        mpz_clear(cost->counts[of]);
    }
}

void cost_add(ModelCost *cost, int of, size_t a, size_t b, size_t c, size_t d)
{
    mpz_t product;
    mpz_init_set_ui(product, a);
    mpz_mul_ui(product, product, b);
    mpz_mul_ui(product, product, c);
    mpz_addmul_ui(cost->counts[of], product, d);
    mpz_clear(product);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Of the position block, coefficients of Omega.  On vectors over the tokens that sum to zero it is
 * (self - other) I; on the rest, spanned by the tokens' sum and the bias row, two by two. */
static size_t position_rank(const Layout *layout, const PositionScores *p)
{
    if (layout->bias_row == BIAS_ROW_NONE) {
        return 0;
    }
    double n = (double)layout->n;
    double a = p->token_self + (n - 1) * p->token_token, b = p->token_bias;
    double c = n * p->bias_token, d = p->bias_self;
    size_t rest = a * d - b * c != 0 ? 2 : a != 0 || b != 0 || c != 0 || d != 0 ? 1 : 0;
    return (p->token_self != p->token_token ? layout->n - 1 : 0) + rest;
}

/* A gate stands at the tokens' position columns, beside the position block. */
static size_t score_rank(const Layout *layout, const Score *score)
{
    size_t position = position_rank(layout, &score->position);
    if (score_by_key(score)) {
        size_t queries = score_query_columns(score).count;
        return least(least(score_query_width(score), score->read.count), queries) + position;
    }
    return score_by_gate(score) ? least(position + 1, layout_rows(layout)) : position;
}

/* A bias is one more row of V.  A diagonal makes V regular on the columns read. */
static size_t value_rank(const Value *value, bool bias)
{
    bool aside = value->diagonal != 0 && value->read.first != value->write.first;
    size_t columns = value->write.count + (aside ? value->read.count : 0);
    size_t rank = least(value_width(value), least(value->read.count, value->write.count));
    bias = bias || value->bias_row != 0;
    rank = value->diagonal != 0 ? value->read.count : rank;
    return least(rank + bias, columns);
}

static size_t split(size_t rank, size_t limit)
{
    return limit == 0 || rank == 0 ? 1 : (rank - 1) / limit + 1;
}

/* Adds a bundle's heads to those beside it. */
static void add_heads(SublayerCost *sublayer, const Layout *layout, const Bundle *bundle,
                      size_t limit)
{
    const Value *value = &bundle->value;
    size_t plain = value_rank(value, false), first = value_rank(value, value->bias != NULL);
    bool external = score_by_key(&bundle->score) && !score_is_mixed(&bundle->score);
    sublayer->heads += (bundle->heads - 1) * split(plain, limit) + split(first, limit);
    sublayer->score_rank = larger(score_rank(layout, &bundle->score), sublayer->score_rank);
    sublayer->value_rank = larger(first, sublayer->value_rank);
    sublayer->external = sublayer->external || external;
}

/* X Q, that times X^T, the pattern times X, that times V. */
static void count_dense(ModelCost *cost, const Layout *layout, const Bundle *bundle)
{
    size_t rows = layout_rows(layout), width = layout_width(layout), heads = bundle->heads;
    cost_add(cost, COST_MULTIPLY_ADDS + KERNEL_DENSE, heads, 2 * rows, width, width);
    cost_add(cost, COST_MULTIPLY_ADDS + KERNEL_DENSE, heads, 2 * rows, rows, width);
    cost_add(cost, COST_EXPONENTIALS + KERNEL_DENSE, heads, rows, rows, 1);
}

/* Factors as factors, the position block never stored.  A pattern costs a column of values as many
 * products as there are keys, or three: the row itself, the sum of the others, the bias row. */
static void count_structured(ModelCost *cost, const Layout *layout, const Bundle *bundle, int form)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t rows = layout_rows(layout), heads = bundle->heads;
    size_t query = score_query_width(score), width = value_width(value);
    size_t read = value->read.count, keys = score_by_key(score) ? rows : 3;
    const int sum = COST_MULTIPLY_ADDS + form;
    if (score_by_key(score)) {
        size_t made = score->q.data != NULL, factors = score->d_head == 0 ? 1 : 1 + made;
        size_t made_times = score_is_mixed(score) ? 1 : heads;
        cost_add(cost, sum, made_times, rows, score->read.count, factors * query);
        cost_add(cost, sum, heads, rows, rows, query);
        if (score->rotary != NULL) { /* a pair of queries, and one of keys, takes four each */
            cost_add(cost, sum, heads, layout->n, score->rotary->width, 4);
        }
    } else if (score->gate.data != NULL) {
        cost_add(cost, sum, heads, rows, score->read.count, 1);
    }
    cost_add(cost, COST_EXPONENTIALS + form, heads, rows, keys, 1);
    bool first = value->v.data != NULL && !bundle_gate_is_value(bundle);
    cost_add(cost, sum, heads, rows, first ? read : 0, width);
    cost_add(cost, sum, heads, rows, keys, width);
    cost_add(cost, sum, heads, rows, value->o.data != NULL ? width : 0, value->write.count);
    if (value->diagonal != 0) {
        cost_add(cost, sum, 1, rows, keys, read);
    }
}

static void count_attention_parameters(ModelCost *cost, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t heads = bundle->heads;
    size_t q = score->d_head, v = value->d_head, read = score->read.count;
    cost_add(cost, COST_ATTENTION, heads, read, q > 0 ? 2 * q : read, 1);
    cost_add(cost, COST_ATTENTION, heads, score->q_bias != NULL, q, 1);
    cost_add(cost, COST_ATTENTION, heads, score->k_bias != NULL, q, 1);
    if (v > 0) {
        cost_add(cost, COST_ATTENTION, heads, v, value->read.count + value->write.count, 1);
        cost_add(cost, COST_ATTENTION, heads, value->inner_bias != NULL, v, 1);
    } else {
        cost_add(cost, COST_ATTENTION, heads, value->read.count, value->write.count, 1);
    }
    cost_add(cost, COST_ATTENTION, value->bias != NULL, value->write.count, 1, 1);
}

static void count_bundle(ModelCost *cost, const Layout *layout, const Bundle *bundle)
{
    size_t width = layout_width(layout);
    bool biased = bundle->score.q_bias != NULL || bundle->score.k_bias != NULL ||
                  bundle->value.inner_bias != NULL || bundle->value.bias != NULL;
    bool turned = bundle->score.rotary != NULL;
    /* The full matrices of an original have no row for a bias: see kernels/kernel.h. */
    if (!turned && (!biased || layout->bias_row != BIAS_ROW_NONE)) {
        count_dense(cost, layout, bundle);
    } else {
        count_structured(cost, layout, bundle, KERNEL_DENSE);
    }
    count_structured(cost, layout, bundle, KERNEL_STRUCTURED);
    cost_add(cost, COST_FULL, bundle->heads, 2, width, width);
    if (layout->bias_row == BIAS_ROW_NONE) {
        count_attention_parameters(cost, bundle);
    }
}

void model_cost_add_norm(ModelCost *cost, const LayerNorm *norm)
{
    if (norm->kind != NORMALIZATION_NONE) {
        cost_add(cost, COST_NORMS, norm->columns.count, norm->beta != NULL ? 2 : 1, 1, 1);
    }
}

static bool is_norm(const Sublayer *sublayer)
{
    return sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM;
}

/* A network, a linear map, or an activation alone. */
static void count_direct(ModelCost *cost, const Layout *layout, const Direct *direct)
{
    size_t write = direct->write.count;
    bool ffn = direct->kind == DIRECT_FFN, alone = direct->kind == DIRECT_ACTIVATION;
    size_t hidden = ffn ? direct->hidden : write;
    size_t maps = direct->w3 != NULL ? 2 : 1;
    size_t ends = alone ? 0 : maps * direct->read.count + (ffn ? write : 0);
    bool exponential = direct->activation != ACTIVATION_RELU &&
                       direct->activation != ACTIVATION_NONE && (ffn || alone);
    cost_add(cost, COST_NETWORK, ends, hidden, 1, 1);
    cost_add(cost, COST_NETWORK, direct->b1 != NULL, hidden, 1, 1);
    cost_add(cost, COST_NETWORK, direct->b2 != NULL, write, 1, 1);
    cost_add(cost, COST_NETWORK, direct->b3 != NULL, hidden, 1, 1);
    for (int form = 0; form < KERNEL_COUNT; form++) {
        cost_add(cost, COST_MULTIPLY_ADDS + form, layout->n, ends, hidden, 1);
        cost_add(cost, COST_EXPONENTIALS + form, layout->n, exponential, hidden, 1);
    }
}

/* The first layer's figures, which a table shows; sublayers beside each other are one, whose heads
 * are external or internal by the own sublayer's. */
static void count_layer(ModelCost *cost, const Model *model, size_t rank_limit)
{
    for (size_t s = 0; s < model->layer_end[0]; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        if (is_norm(sublayer)) {
            continue;
        }
        cost->sublayer_count += !sublayer->beside;
        SublayerCost *all = &cost->sublayers[cost->sublayer_count - 1], own = {0};
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            add_heads(all, &model->layout, &sublayer->bundles[b], rank_limit);
            add_heads(&own, &model->layout, &sublayer->bundles[b], rank_limit);
        }
        *(own.external ? &cost->external : &cost->internal) += own.heads;
    }
}

void model_cost_count(ModelCost *cost, const Model *model, size_t depth, size_t rank_limit)
{
    cost->rows = layout_rows(&model->layout);
    cost->width = layout_width(&model->layout);
    count_layer(cost, model, rank_limit);
    for (size_t l = 0, s = 0; l < model->depth; l++) {
        size_t times = depth / model->depth + (l < depth % model->depth);
        ModelCost layer;
        model_cost_init(&layer);
        for (; s < model->layer_end[l]; s++) {
            const Sublayer *sublayer = &model->sublayers[s];
            model_cost_add_norm(&layer, &sublayer->norm);
            if (sublayer->bundle_count == 0 && !is_norm(sublayer)) {
                count_direct(&layer, &model->layout, &sublayer->direct);
            }
            for (size_t b = 0; b < sublayer->bundle_count; b++) {
                count_bundle(&layer, &model->layout, &sublayer->bundles[b]);
            }
        }
        for (int of = 0; of < COST_COUNTS; of++) {
            mpz_addmul_ui(cost->counts[of], layer.counts[of], times);
        }
        model_cost_clear(&layer);
    }
}
