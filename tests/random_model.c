/*
 * Small random models of every kind that model_fault allows, biased towards corners; and a
 * place for models that a test writes down.
 */
#include "random_model.h"

#include "drawn_numbers.h"

#include <stdlib.h>

void random_start(RandomModel *random, uint64_t seed)
{
    *random = (RandomModel){.state = seed};
}

size_t random_below(RandomModel *random, size_t limit)
{
    return (size_t)(drawn_word(&random->state) % limit);
}

static double number(RandomModel *random)
{
    double uniform = (double)(drawn_word(&random->state) >> 11) * 0x1p-52 - 1;
    switch (random_below(random, 12)) {
    case 0: return 0;
    case 1: return uniform * 0x1p-30;
    case 2: return uniform * 4;
    default: return uniform;
    }
}

const double *random_scaled(RandomModel *random, size_t count, double factor)
{
    double *numbers = random->number + random->numbers;
    random->numbers += count;
    if (random->numbers > RANDOM_NUMBERS) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = factor * number(random);
    }
    return numbers;
}

const double *random_numbers(RandomModel *random, size_t count)
{
    return random_scaled(random, count, 1);
}

/* Heads side by side, one above the other, or with gaps. */
static HeadWeight head_weights(RandomModel *random, size_t heads, size_t rows, size_t columns)
{
    size_t ld = columns, stride = rows * columns;
    size_t layout = random_below(random, 3);
    if (layout == 0) {
        ld = heads * columns;
        stride = columns;
    } else if (layout == 1) {
        ld = columns + 1;
        stride = rows * ld + 2;
    }
    const double *data = random_numbers(random, heads * (rows + 1) * (columns + 2));
    return (HeadWeight){data, ld, stride};
}

static Columns columns_below(RandomModel *random, size_t content, size_t least)
{
    size_t count = least + random_below(random, content - least + 1);
    return (Columns){random_below(random, content - count + 1), count};
}

static int coefficient(RandomModel *random)
{
    static const int values[] = {0, 0, 1, 2, -2};
    return values[random_below(random, 5)];
}

/* A factor, and what must stay exact in it: neither 0 nor, often, a power of two. */
static double factor(RandomModel *random)
{
    static const double values[] = {1, 1, 1.702, -2.95015679, 1e-3, 40};
    return values[random_below(random, 6)];
}

/* Half of the time NULL. */
static const double *maybe_numbers(RandomModel *random, size_t count)
{
    return random_below(random, 2) ? random_numbers(random, count) : NULL;
}

/* Of heads of at least two entries, sometimes. */
static const Rotary *maybe_rotary(RandomModel *random, const Layout *layout, size_t d_head)
{
    if (!random->turns || d_head < 2 || random_below(random, 4) == 0) {
        return NULL;
    }
    Rotary *made = &random->rotary[random->rotaries++ % RANDOM_BUNDLES];
    *made = (Rotary){.positions = layout->n,
                     .width = d_head - d_head % 2,
                     .interleaved = random_below(random, 2)};
    made->cos = random_numbers(random, layout->n * made->width / 2);
    made->sin = random_numbers(random, layout->n * made->width / 2);
    return made;
}

static Score random_score(RandomModel *random, const Layout *layout, ScoreShape shape, size_t heads)
{
    static const Scale scales[] = {{1, 1, 1}, {1, 1, 3}, {2, 3, 1}};
    size_t content = layout_content(layout);
    Score score = {.read = columns_below(random, content, shape == SCORES_GATE_UNIT ? heads : 1),
                   .gate_scale = factor(random),
                   .scale = scales[random_below(random, 3)]};
    size_t read = score.read.count;
    score.kind = shape == SCORES_NONE                                ? SCORE_NONE
                 : shape == SCORES_GATE || shape == SCORES_GATE_UNIT ? SCORE_GATE
                                                                     : SCORE_BILINEAR;
    if (shape == SCORES_GATE) {
        score.gate = head_weights(random, heads, read, 1);
    } else if (shape == SCORES_GATE_UNIT) {
        score.gate_unit = random_below(random, 2) ? -1 : 2;
    }
    score.gate_bias = score.kind == SCORE_GATE ? maybe_numbers(random, heads) : NULL;
    score.gate_shift = score.kind == SCORE_GATE ? maybe_numbers(random, heads) : NULL;
    if (score.kind == SCORE_BILINEAR) {
        size_t most = random->turns ? 5 : 3;
        score.d_head = shape == SCORES_FACTORED ? 1 + random_below(random, most) : 0;
        score.q = head_weights(random, heads, read, score.d_head > 0 ? score.d_head : read);
        score.k = head_weights(random, heads, read, score.d_head > 0 ? score.d_head : 1);
    }
    if (score.d_head > 0) {
        score.q_bias = maybe_numbers(random, heads * score.d_head);
        score.k_bias = maybe_numbers(random, heads * score.d_head);
        score.rotary = maybe_rotary(random, layout, score.d_head);
    }
    score.position = (PositionScores){coefficient(random), coefficient(random), coefficient(random),
                                      coefficient(random), coefficient(random)};
    return score;
}

static Value random_value(RandomModel *random, const Layout *layout, ValueShape shape, size_t heads)
{
    size_t content = layout_content(layout), least = shape == VALUES_UNIT ? heads : 1;
    Value value = {.read = columns_below(random, content, least),
                   .write = columns_below(random, content, least),
                   .scale = factor(random)};
    if (shape == VALUES_UNIT) {
        value.unit = random_below(random, 2) ? -1 : 3;
    } else if (shape == VALUES_DENSE) {
        value.scale = 1;
        value.v = head_weights(random, heads, value.read.count, value.write.count);
        value.diagonal = heads == 1 ? (int)random_below(random, 3) - 1 : 0;
    } else if (shape != VALUES_NONE) {
        value.d_head = shape == VALUES_GATE ? 1 : 1 + random_below(random, 3);
        value.v = head_weights(random, heads, value.read.count, value.d_head);
        value.o = head_weights(random, heads, value.d_head, value.write.count);
        value.inner_bias = maybe_numbers(random, heads * value.d_head);
    }
    if (shape == VALUES_NONE || random_below(random, 2)) {
        value.bias = random_numbers(random, value.write.count);
    }
    return value;
}

Bundle random_bundle(RandomModel *random, const Layout *layout, ScoreShape score, ValueShape value,
                     size_t heads, bool causal)
{
    Bundle bundle = {heads, random_score(random, layout, score, heads),
                     random_value(random, layout, value, heads)};
    bundle.score.visible = causal ? VISIBLE_EARLIER : VISIBLE_ALL;
    if (value == VALUES_GATE && score == SCORES_GATE) {
        bundle.value.read = bundle.score.read;
        bundle.value.v = bundle.score.gate;
    }
    return bundle;
}

/* The next count of the model's marks; *first is where they begin. */
static void take_marks(RandomModel *random, size_t *first, size_t count)
{
    *first = random->marks;
    random->marks += count;
    if (random->marks > RANDOM_MARKS) {
        abort();
    }
}

static void random_extra(RandomModel *random, const Layout *layout, Bundle *bundle)
{
    static const signed char values[] = {0, 0, 1, -2, 2, -1};
    size_t rows = layout_rows(layout), bias = layout_bias_row(layout), first;
    bool each = random_below(random, 2);
    size_t heads = each ? bundle->heads : 1;
    take_marks(random, &first, heads * rows * rows);
    for (size_t e = 0; e < heads * rows * rows; e++) {
        size_t i = e / rows % rows, j = e % rows;
        bool allowed = bundle->score.kind == SCORE_BILINEAR || i == j || j == bias;
        random->mark[first + e] = allowed ? values[random_below(random, 6)] : 0;
    }
    bundle->score.extra = random->mark + first;
    bundle->score.extra_stride = each ? rows * rows : 0;
}

void random_sight(RandomModel *random, const Layout *layout, Bundle *bundle)
{
    Score *score = &bundle->score;
    size_t rows = layout_rows(layout), first;
    size_t kinds = score->kind == SCORE_BILINEAR ? VISIBLE_LISTED + 1 : VISIBLE_LISTED;
    do {
        score->visible = (Visible)random_below(random, kinds);
    } while (score->visible == VISIBLE_EARLIER && layout_bias_row(layout) == layout->n);
    if (score->visible == VISIBLE_LISTED) {
        take_marks(random, &first, rows * rows);
        for (size_t e = 0; e < rows * rows; e++) {
            random->listed[first + e] = (unsigned char)random_below(random, 2);
        }
        for (size_t i = 0; i < rows; i++) {
            random->listed[first + i * rows + random_below(random, rows)] = 1;
        }
        score->listed = random->listed + first;
    }
    if (layout->bias_row == BIAS_ROW_MASKED) {
        score->position = (PositionScores){0};
    } else if (layout->bias_row != BIAS_ROW_NONE && random_below(random, 4) > 0) {
        random_extra(random, layout, bundle);
    }
}

Model stack_model(BundleStack *stack, Layout layout, size_t depth)
{
    for (size_t l = 0; l < depth; l++) {
        stack->sublayer[l] = (Sublayer){.bundles = &stack->bundle[l], .bundle_count = 1};
        stack->end[l] = l + 1;
    }
    return (Model){layout, stack->sublayer, depth, stack->end, depth, NULL};
}

Model random_stack(RandomModel *random, BundleStack *stack, int trial)
{
    Layout layout = {1 + random_below(random, 5), 3, random_below(random, 3),
                     random_below(random, 2) ? BIAS_ROW_FIRST : BIAS_ROW_LAST};
    for (int l = 0; l < 3; l++) {
        stack->bundle[l] =
            random_bundle(random, &layout, (ScoreShape)((trial + l) % SCORES_COUNT),
                          (ValueShape)(trial / SCORES_COUNT % VALUES_COUNT),
                          1 + random_below(random, 3), layout.bias_row == BIAS_ROW_FIRST);
        random_sight(random, &layout, &stack->bundle[l]);
    }
    return stack_model(stack, layout, 3);
}
