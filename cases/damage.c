/*
 * Damage done on purpose to the attention-only model: entries of Omega that are lost, noise on
 * its weights.
 */
#include "append.h"
#include "construct.h"

#include "draw.h"
#include "stack.h"

#include <stdio.h>

/* The draws of one part of one bundle of T'. */
typedef struct {
    Stack *stack;
    size_t sublayer, bundle;
} Place;

static uint64_t hash_of(const Place *place, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "sublayers.%zu.%zu.%s", place->sublayer, place->bundle, part);
    return draw_hash(name);
}

static double noise(const Place *place, uint64_t hash, size_t h, size_t r, size_t c)
{
    const CaseSpec *spec = place->stack->spec;
    return spec->weight_noise * draw_normal(spec->seed, hash, h, r, c);
}

/* Are there numbers, to be written now? */
static bool writes(const Place *place)
{
    return !arena_is_hollow(place->stack->arena);
}

/* *weight [heads, rows, columns] is a copy, every w made fl(w (1 + noise)); returns it. */
static double *disturb(const Place *place, const char *part, HeadWeight *weight, TensorShape shape)
{
    size_t heads = shape.heads, rows = shape.rows, columns = shape.columns;
    uint64_t hash = hash_of(place, part);
    if (weight->data == NULL) {
        return NULL;
    }
    double *copy = arena_take_numbers(place->stack->arena, heads, rows * columns);
    size_t written = writes(place) ? heads * rows * columns : 0;
    for (size_t e = 0; e < written; e++) {
        size_t h = e / (rows * columns), r = e / columns % rows, c = e % columns;
        double w = weight->data[h * weight->head_stride + r * weight->ld + c];
        copy[e] = w * (1 + noise(place, hash, h, r, c));
    }
    *weight = (HeadWeight){copy, columns, rows * columns};
    return copy;
}

static void disturb_vector(const Place *place, const char *part, const double **vector,
                           size_t count)
{
    HeadWeight weight = {*vector, count, count};
    *vector = disturb(place, part, &weight, (TensorShape){1, 1, count, 0});
}

/* The same of shifts of gates, which no storage format rounds. */
static void disturb_shift(const Place *place, const double **shift, size_t heads)
{
    uint64_t hash = hash_of(place, "gate_shift");
    if (*shift == NULL) {
        return;
    }
    double *copy = arena_take(place->stack->arena, heads, sizeof *copy);
    for (size_t h = 0; h < heads; h++) {
        copy[h] = (*shift)[h] * (1 + noise(place, hash, h, 0, 0));
    }
    *shift = copy;
}

/* [heads, rows, 1] or [heads, 1, rows]: head h's is unit (1 + noise) times the unit vector h. */
static HeadWeight unit_vectors(const Place *place, const char *part, TensorShape shape, double unit)
{
    size_t heads = shape.heads, rows = shape.rows, columns = shape.columns;
    uint64_t hash = part != NULL ? hash_of(place, part) : 0;
    double *data = arena_take_numbers(place->stack->arena, heads, rows * columns);
    for (size_t h = 0; writes(place) && h < heads; h++) {
        data[h * rows * columns + h] =
            unit * (1 + (part != NULL ? noise(place, hash, h, h, 0) : 0));
    }
    return (HeadWeight){data, columns, rows * columns};
}

static void disturb_score(const Place *place, Bundle *bundle)
{
    Score *score = &bundle->score;
    size_t read = score->read.count, d_head = score->d_head;
    size_t own = score_is_mixed(score) ? 1 : bundle->heads; /* queries and keys */
    if (score_by_gate(score) && score->gate.data == NULL) {
        score->gate =
            unit_vectors(place, "gate", (TensorShape){bundle->heads, read, 1, 0}, score->gate_unit);
    } else if (score_by_gate(score)) {
        disturb(place, "gate", &score->gate, (TensorShape){bundle->heads, read, 1, 0});
    } else if (score_by_key(score)) {
        disturb(place, "q", &score->q, (TensorShape){own, read, d_head > 0 ? d_head : read, 0});
    }
    if (d_head > 0) {
        disturb(place, "k", &score->k, (TensorShape){own, read, d_head, 0});
    }
    if (score_is_mixed(score)) {
        disturb(place, "mix", &score->mix, (TensorShape){bundle->heads, d_head, 1, 0});
        score->q.head_stride = score->k.head_stride = 0;
    }
    disturb_vector(place, "gate_bias", &score->gate_bias, bundle->heads);
    disturb_shift(place, &score->gate_shift, bundle->heads);
    disturb_vector(place, "q_bias", &score->q_bias, own * d_head);
    disturb_vector(place, "k_bias", &score->k_bias, own * d_head);
}

/* V = W + diagonal I where the columns read are written too: its entries, not W's, are what a
 * model stores, so the noise is in proportion to them. */
static void disturb_dense(const Place *place, Bundle *bundle)
{
    Value *value = &bundle->value;
    size_t rows = value->read.count, columns = value->write.count;
    HeadWeight clean = value->v;
    uint64_t hash = hash_of(place, "v");
    double *copy = disturb(place, "v", &value->v, (TensorShape){bundle->heads, rows, columns, 0});
    for (size_t r = 0; value->diagonal != 0 && writes(place) && r < rows; r++) {
        size_t column = value->read.first + r, c = column - value->write.first;
        if (column >= value->write.first && c < columns) {
            double w = clean.data[r * clean.ld + c];
            copy[r * columns + c] = w + (w + value->diagonal) * noise(place, hash, 0, r, c);
        }
    }
}

static void disturb_value(const Place *place, Bundle *bundle)
{
    Value *value = &bundle->value;
    size_t heads = bundle->heads, read = value->read.count, write = value->write.count;
    if (value->unit != 0) {
        value->d_head = 1;
        value->v = unit_vectors(place, "v", (TensorShape){heads, read, 1, 0}, value->unit);
        value->o = unit_vectors(place, NULL, (TensorShape){heads, 1, write, 0}, 1);
        value->unit = 0;
    } else if (value->d_head == 0 && value->v.data != NULL) {
        disturb_dense(place, bundle);
    } else if (value->d_head > 0) {
        disturb(place, "v", &value->v, (TensorShape){heads, read, value->d_head, 0});
        disturb(place, "o", &value->o, (TensorShape){heads, value->d_head, write, 0});
    }
    disturb_vector(place, "inner_bias", &value->inner_bias, heads * value->d_head);
    disturb_vector(place, "bias", &value->bias, write);
}

/* Entries of Omega in one head; a pseudo-mask's are between tokens that have no others. */
static double entries_of_head(const CaseSpec *spec, const Score *score)
{
    const PositionScores *position = &score->position;
    double n = (double)spec->n;
    bool masked = score_by_key(score) && spec->drop_entry > 0;
    return (masked ? mask_entries(spec) : 0) + (position->bias_self != 0) +
           n * (position->token_self != 0) + n * (position->token_bias != 0) +
           n * (position->bias_token != 0) + n * (n - 1) * (position->token_token != 0);
}

/* Every coefficient of Omega that is not 0 is lost with the given probability, head by head; the
 * entry `given` of the bundle, from 1, in any case. */
static void drop_entries(const Place *place, Bundle *bundle, double given)
{
    Stack *stack = place->stack;
    Layout layout = case_converted_layout(stack->spec);
    Score *score = &bundle->score;
    size_t rows = layout_rows(&layout), square = rows * rows;
    uint64_t hash = hash_of(place, "dropout");
    signed char *extra = arena_take(stack->arena, bundle->heads, square);
    double entry = 0;
    for (size_t e = 0; e < bundle->heads * square; e++) {
        size_t h = e / square, i = e / rows % rows, j = e % rows;
        bool lost = draw_uniform(stack->spec->seed, hash, h, i, j) < stack->spec->dropout;
        int regular = layout_position_score(&layout, &score->position, i, j);
        int whole = score_position(&layout, score, h, i, j);
        entry += whole != 0;
        lost = lost || (whole != 0 && entry == given);
        int kept = lost ? 0 : whole;
        stack->damaged = stack->damaged || kept != whole;
        extra[e] = (signed char)(kept - regular);
    }
    score->extra = extra;
    score->extra_stride = square;
}

static void damage_bundle(const Place *place, Bundle *bundle, double entries)
{
    Stack *stack = place->stack;
    double given = (double)stack->spec->drop_entry - stack->entries;
    bool has_given = given >= 1 && given <= entries;
    if (stack->spec->weight_noise > 0) {
        stack->damaged = true;
        disturb_score(place, bundle);
        disturb_value(place, bundle);
    }
    if ((stack->spec->dropout > 0 || has_given) && !stack->numbers &&
        !construction_info(stack->spec->construction)->masked) {
        drop_entries(place, bundle, given);
    }
}

void damage_bundles(Stack *stack, Bundle *bundles, size_t count)
{
    for (size_t b = 0; b < count; b++) {
        Place place = {stack, stack->converted_count, b};
        double entries = (double)bundles[b].heads * entries_of_head(stack->spec, &bundles[b].score);
        if (!stack->outline) {
            damage_bundle(&place, &bundles[b], entries);
        }
        stack->entries += entries;
    }
}

void damage_norm(Stack *stack, LayerNorm *norm)
{
    Place place = {stack, stack->converted_count, 0};
    if (stack->spec->weight_noise > 0 && norm->kind != NORMALIZATION_NONE && !stack->outline) {
        stack->damaged = true;
        disturb_vector(&place, "norm.gamma", &norm->gamma, norm->columns.count);
        disturb_vector(&place, "norm.beta", &norm->beta, norm->columns.count);
    }
}
