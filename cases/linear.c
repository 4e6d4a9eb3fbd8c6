/*
 * The construction `linear`: heads that attend to themselves alone and carry x W + b.
 */
#include "construct.h"

#include <math.h>

/* Linear head: 2 Omega from every row to itself, so that V alone acts.  V carries W as a block
 * from the columns read to the columns written, plus diagonal times the identity on the columns
 * read (-1: W - I in place, or clear); b rides on the token position rows. */
Bundle linear_head(const Direct *map, int diagonal, Visible visible)
{
    return (Bundle){
        .heads = 1,
        .score = {.kind = SCORE_NONE,
                  .position = {.token_self = 2, .bias_self = 2},
                  .visible = visible},
        .value = {.read = map->read,
                  .write = map->write,
                  .v = {.data = map->w1, .ld = map->write.count},
                  .scale = 1,
                  .bias = map->b1,
                  .diagonal = diagonal},
    };
}

/* V's rank is the number of its rows that are not zero: at most rank of those that W and the
 * diagonal have go to one head, the bias is a row more.  Where W is narrower than high, and
 * alone, rank of its columns do, with their part of the bias.  Heads that share Q add up to W
 * without a rounding, as no entry is in two of them. */
void linear_append(Stack *stack, const Direct *map, int diagonal)
{
    Columns read = map->read, write = map->write;
    const double *w = map->w1, *b = map->b1;
    bool by_columns = diagonal == 0 && write.count < read.count;
    size_t whole = by_columns ? write.count : read.count, rank = stack->spec->head_rank;
    rank = rank == 0 || rank > whole ? whole : rank;
    bool limited = stack->spec->head_rank > 0 && !by_columns;
    size_t count = (whole + rank - 1) / rank;
    bool apart = b != NULL && limited && whole % stack->spec->head_rank == 0;
    Visible visible = stack_visible(stack);
    Bundle *heads = arena_take(stack->arena, count + 1, sizeof *heads);
    for (size_t h = 0; h < count; h++) {
        size_t first = h * rank, part = rank < whole - first ? rank : whole - first;
        bool last = h + 1 == count && !apart;
        const double *bias = !by_columns || b == NULL || stack->outline ? b : b + first;
        const Direct block = {.read = by_columns ? read : (Columns){read.first + first, part},
                              .write = by_columns ? (Columns){write.first + first, part} : write,
                              .w1 = w + (stack->outline ? 0
                                         : by_columns   ? first
                                                        : first * write.count),
                              .b1 = by_columns || last ? bias : NULL};
        heads[h] = linear_head(&block, diagonal, visible);
        heads[h].value.v.ld = write.count;
    }
    if (apart) {
        const Direct alone = {.read = read, .write = write, .b1 = b};
        heads[count++] = linear_head(&alone, 0, visible);
    }
    append_converted(stack, heads, count);
}

/* A norm of x: what is added to x is norm(x) W + b. */
static bool pre_norm(const CaseSpec *spec)
{
    return spec->norm != NORMALIZATION_NONE && spec->norm_place == NORM_PRE;
}

/* Drawn: W ~ N(0, 1/rows), or for `block` and behind a norm, which add without end, that over
 * 2L. */
static void draw(Stack *stack, size_t layer, Direct *map)
{
    const CaseSpec *spec = stack->spec;
    bool normal = spec->weights == WEIGHTS_NORMAL;
    bool block = spec->linear == LINEAR_BLOCK || pre_norm(spec);
    size_t rows = map->read.count, columns = map->write.count;
    double fan_in = (double)rows;
    double variance = block ? 1 / (2 * fan_in * (double)spec->depth) : 1 / fan_in;
    map->w1 = stack_draw(stack, layer, "linear.W", (TensorShape){1, rows, columns, 0},
                         normal ? 1 : sqrt(variance));
    if (spec->bias == BIAS_RANDOM) {
        map->b1 = stack_draw(stack, layer, "linear.b", (TensorShape){1, 1, columns, 0},
                             normal ? 1 : 0.25);
    }
}

/* In place x <- x W + b, or behind a norm x <- x + norm(x) W + b; off the diagonal the two banks
 * take turns: `block` adds content W + b to hidden, then hidden W + b to content, ...; `clear`
 * moves hidden to content and clears hidden, then back, ... */
void linear_layer(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    Columns read = stack_content(stack), write = read;
    bool in_place = spec->linear == LINEAR_IN_PLACE, clear = spec->linear == LINEAR_CLEAR;
    if (!in_place) {
        bool from_hidden = (layer % 2 == 0) == clear;
        read = from_hidden ? stack_hidden(stack) : stack_content(stack);
        write = from_hidden ? stack_content(stack) : stack_hidden(stack);
    }
    bool replace = in_place && !pre_norm(spec);
    Direct map = {
        .kind = DIRECT_LINEAR, .read = read, .write = write, .replace = replace, .clear = clear};
    norm_open(stack, layer, PART_FIRST, write);
    if (spec->given != NULL) {
        map.w1 = spec->given->layers[layer].linear_w;
        map.b1 = spec->given->layers[layer].linear_b;
    } else {
        draw(stack, layer, &map);
    }
    append_direct(stack, map);
    linear_append(stack, &map, replace || clear ? -1 : 0);
    norm_close(stack);
    stack->compared = write;
    if (clear) {
        stack->cleared = read;
    }
}
