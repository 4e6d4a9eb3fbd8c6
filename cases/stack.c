/*
 * The stack under construction: its columns, and the tensors drawn for its sublayers.
 */
#include "stack.h"

#include "../memory/need.h"
#include "draw.h"

#include <stdio.h>
#include <string.h>

Columns stack_content(const Stack *stack)
{
    return (Columns){0, stack->spec->d};
}

Columns stack_hidden(const Stack *stack)
{
    return (Columns){stack->spec->d, stack->spec->d_ff};
}

Visible stack_visible(const Stack *stack)
{
    return stack->spec->mask == MASK_CAUSAL ? VISIBLE_EARLIER : VISIBLE_ALL;
}

const double *stack_scaled(Stack *stack, const double *w, size_t count)
{
    double scale = stack->spec->score_scale;
    if (w == NULL || scale == 0 || scale == 1 || stack->outline) {
        return w;
    }
    double *scaled = arena_take_numbers(stack->arena, 1, count);
    size_t written = arena_is_hollow(stack->arena) ? 0 : count;
    for (size_t e = 0; e < written; e++) {
        scaled[e] = w[e] * scale;
    }
    return scaled;
}

const double *stack_repeated(Stack *stack, double number, size_t count)
{
    static const double absent = 0;
    if (number == 0 || stack->outline) {
        return number == 0 ? NULL : &absent;
    }
    double *repeated = arena_take(stack->arena, count, sizeof *repeated); /* exact in storage.c */
    for (size_t i = 0; i < count; i++) {
        repeated[i] = number;
    }
    return repeated;
}

/* Draws that are worth more than one thread. */
enum { DRAWS_AT_ONCE = 1 << 16 };

/* A tensor [heads, rows, columns] with leading dimension ld. */
typedef struct {
    double *tensor;
    uint64_t seed, hash;
    size_t rows, columns, ld;
    double scale;
} Drawing;

/* Row i of all heads' rows. */
static void draw_row(const void *context, size_t i)
{
    const Drawing *d = context;
    double *row = d->tensor + i * d->ld;
    draw_normals(row, &(DrawRow){d->seed, d->hash, i / d->rows, i % d->rows}, d->columns);
    for (size_t c = 0; c < d->columns; c++) {
        row[c] *= d->scale;
    }
}

double *draw_tensor(Arena *arena, const CaseSpec *spec, const char *name, TensorShape shape,
                    double scale)
{
    size_t heads = shape.heads, rows = shape.rows, columns = shape.columns;
    size_t ld = shape.ld > 0 ? shape.ld : columns;
    if (ld != 0 && rows > (size_t)-1 / ld) {
        need_is_short();
    }
    double *tensor = arena_take_numbers(arena, heads, rows * ld);
    if (arena_is_hollow(arena)) {
        return tensor;
    }
    Drawing drawing = {tensor, spec->seed, draw_hash(name), rows, columns, ld, scale};
    if (spec->each != NULL && heads * rows * columns >= DRAWS_AT_ONCE) {
        spec->each(heads * rows, draw_row, &drawing);
        return tensor;
    }
    for (size_t i = 0; i < heads * rows; i++) {
        draw_row(&drawing, i);
    }
    return tensor;
}

const double *stack_draw(Stack *stack, size_t layer, const char *name, TensorShape shape,
                         double scale)
{
    static const double absent = 0;
    char full[64];
    if (stack->outline) {
        return &absent;
    }
    snprintf(full, sizeof full, "blocks.%zu.%s", layer, name);
    return draw_tensor(stack->arena, stack->spec, full, shape, scale);
}

size_t case_hidden_columns(const CaseSpec *spec)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    bool off_diagonal = info->linear && spec->linear != LINEAR_IN_PLACE;
    bool reads_out = case_reads_out(spec) && spec->activation != ACTIVATION_NONE;
    return info->hidden_bank || off_diagonal || reads_out ? spec->d_ff : 0;
}

Layout case_original_layout(const CaseSpec *spec)
{
    bool moved = construction_info(spec->construction)->linear;
    return (Layout){.n = spec->n, .d = spec->d, .hidden = moved ? case_hidden_columns(spec) : 0};
}

Layout case_converted_layout(const CaseSpec *spec)
{
    Layout layout = {.n = spec->n, .d = spec->d, .hidden = case_hidden_columns(spec)};
    bool first = spec->bias_row == POSITION_FIRST ||
                 (spec->bias_row == POSITION_AUTO && spec->mask == MASK_CAUSAL);
    BiasRow shown = first ? BIAS_ROW_FIRST : BIAS_ROW_LAST;
    layout.bias_row = construction_info(spec->construction)->masked ? BIAS_ROW_MASKED : shown;
    return layout;
}
