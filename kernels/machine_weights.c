/*
 * The weights of a model's layer, converted: the arrays that its sublayers point into, in the order
 * of their addresses.
 */
#include "machine_weights.h"

#include "../memory/need.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Doubles from, ..., from + count - 1 of the model, and those before it in the copies. */
typedef struct {
    const double *from;
    size_t count, before;
} Range;

struct Weights {
    const Formats *formats;
    Range *ranges; /* [count] of the layer that was entered last */
    size_t count, layer;
    Scalar *stored, *operand; /* the same where operands are what is stored */
};

/* A visit to each array of a model. */
typedef struct {
    Range *ranges; /* NULL: they are counted */
    size_t count;
    double numbers;
} Visit;

static void visit(Visit *visit, const double *from, size_t count)
{
    if (from == NULL || count == 0) {
        return;
    }
    if (visit->ranges != NULL) {
        visit->ranges[visit->count] = (Range){from, count, 0};
    }
    visit->count++;
    visit->numbers += (double)count;
}

static void visit_heads(Visit *to, HeadWeight weight, size_t heads, size_t rows, size_t columns)
{
    if (heads > 0 && rows > 0 && columns > 0) {
        visit(to, weight.data, (heads - 1) * weight.head_stride + (rows - 1) * weight.ld + columns);
    }
}

static void visit_bundle(Visit *to, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t heads = bundle->heads, read = score->read.count, d_head = score->d_head;
    size_t own = score_is_mixed(score) ? 1 : heads; /* queries and keys */
    visit_heads(to, score->gate, heads, read, 1);
    visit(to, score->gate_bias, heads);
    visit(to, score->gate_shift, heads);
    visit_heads(to, score->q, own, read, score_query_width(score));
    visit_heads(to, score->k, own, read, d_head);
    visit_heads(to, score->mix, heads, d_head, 1);
    visit(to, score->q_bias, own * d_head);
    visit(to, score->k_bias, own * d_head);
    if (score->rotary != NULL) {
        size_t turns = score->rotary->positions * (score->rotary->width / 2);
        visit(to, score->rotary->cos, turns);
        visit(to, score->rotary->sin, turns);
    }
    visit_heads(to, value->v, heads, value->read.count, value_width(value));
    visit_heads(to, value->o, heads, value->d_head, value->write.count);
    visit(to, value->inner_bias, heads * value->d_head);
    visit(to, value->bias, value->write.count);
}

static void visit_direct(Visit *to, const Direct *direct)
{
    size_t read = direct->read.count, write = direct->write.count, hidden = direct->hidden;
    bool ffn = direct->kind == DIRECT_FFN;
    visit(to, direct->w1, read * (ffn ? hidden : write));
    visit(to, direct->b1, ffn ? hidden : write);
    visit(to, direct->w2, hidden * write);
    visit(to, direct->b2, write);
    visit(to, direct->w3, read * hidden);
    visit(to, direct->b3, hidden);
}

/* Of layer l. */
static Visit visit_layer(const Model *model, size_t l, Range *ranges)
{
    Visit all = {ranges, 0, 0};
    for (size_t s = model_first(model, l); s < model->layer_end[l]; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        visit(&all, sublayer->norm.gamma, sublayer->norm.columns.count);
        visit(&all, sublayer->norm.beta, sublayer->norm.columns.count);
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            visit_bundle(&all, &sublayer->bundles[b]);
        }
        if (sublayer->bundle_count == 0) {
            visit_direct(&all, &sublayer->direct);
        }
    }
    return all;
}

/* The most that a layer has of arrays and of numbers. */
static Visit visit_largest(const Model *model)
{
    Visit most = {NULL, 0, 0};
    for (size_t l = 0; l < model->depth; l++) {
        Visit layer = visit_layer(model, l, NULL);
        most.count = layer.count > most.count ? layer.count : most.count;
        most.numbers = layer.numbers > most.numbers ? layer.numbers : most.numbers;
    }
    return most;
}

static bool operands_differ(const Formats *formats)
{
    return formats->operand != formats->storage;
}

double weights_count(const Model *model, const Formats *formats)
{
    return SCALAR_IS_DOUBLE ? 0 : visit_largest(model).numbers * (operands_differ(formats) ? 2 : 1);
}

static int compare_ranges(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const Range *)a)->from, y = (uintptr_t)((const Range *)b)->from;
    return (x > y) - (x < y);
}

/* Makes one of those that overlap; heads and rows of one matrix do.  Returns the numbers in all. */
static size_t merge(Weights *weights)
{
    size_t kept = 0, numbers = 0;
    qsort(weights->ranges, weights->count, sizeof *weights->ranges, compare_ranges);
    for (size_t r = 0; r < weights->count; r++) {
        const Range *next = &weights->ranges[r];
        Range *last = kept > 0 ? &weights->ranges[kept - 1] : NULL;
        if (last != NULL && (uintptr_t)next->from < (uintptr_t)(last->from + last->count)) {
            size_t end = (size_t)(next->from - last->from) + next->count;
            last->count = end > last->count ? end : last->count;
        } else {
            weights->ranges[kept++] = *next;
        }
    }
    weights->count = kept;
    for (size_t r = 0; r < kept; r++) {
        weights->ranges[r].before = numbers;
        numbers += weights->ranges[r].count;
    }
    return numbers;
}

static void convert(const Weights *weights)
{
    const Formats *formats = weights->formats;
    for (size_t r = 0; r < weights->count; r++) {
        const Range *range = &weights->ranges[r];
        Scalar *to = weights->stored + range->before;
        scalar_store(formats->storage, range->from, to, range->count);
        if (operands_differ(formats)) {
            Scalar *operand = weights->operand + range->before;
            memcpy(operand, to, range->count * sizeof *to);
            scalar_round(formats->operand, operand, range->count);
        }
    }
}

/* The ranges of layer l; returns their numbers. */
static size_t find_ranges(Weights *weights, const Model *model, size_t l)
{
    weights->count = visit_layer(model, l, weights->ranges).count;
    return merge(weights);
}

Weights *weights_make(const Model *model, const Formats *formats)
{
    Weights *made = need_zeros(1, sizeof *made);
    if (SCALAR_IS_DOUBLE) {
        return made;
    }
    made->formats = formats;
    made->ranges = need_zeros(visit_largest(model).count + 1, sizeof *made->ranges);
    size_t most = 1;
    for (size_t l = 0; l < model->depth; l++) {
        size_t numbers = find_ranges(made, model, l);
        most = numbers > most ? numbers : most;
    }
    made->count = 0;
    made->stored = need_zeros(most, sizeof *made->stored);
    made->operand =
        operands_differ(formats) ? need_zeros(most, sizeof *made->operand) : made->stored;
    return made;
}

void weights_enter(Weights *weights, const Model *model, size_t l)
{
    if (SCALAR_IS_DOUBLE || (weights->count > 0 && weights->layer == l)) {
        return;
    }
    weights->layer = l;
    (void)find_ranges(weights, model, l);
    convert(weights);
}

void weights_clear(Weights *weights)
{
    if (weights != NULL) {
        if (weights->operand != weights->stored) {
            free(weights->operand);
        }
        free(weights->stored);
        free(weights->ranges);
        free(weights);
    }
}

/* The last range that does not begin behind w has it. */
static const Scalar *find(const Weights *weights, const Scalar *copy, const double *w)
{
    if (SCALAR_IS_DOUBLE || w == NULL) {
        return (const Scalar *)w;
    }
    size_t first = 0, end = weights->count;
    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;
        bool before = (uintptr_t)weights->ranges[middle].from <= (uintptr_t)w;
        first = before ? middle : first;
        end = before ? end : middle;
    }
    return copy + weights->ranges[first].before + (w - weights->ranges[first].from);
}

const Scalar *weights_stored(const Weights *weights, const double *w)
{
    return find(weights, weights->stored, w);
}

const Scalar *weights_operand(const Weights *weights, const double *w)
{
    return find(weights, weights->operand, w);
}
