/*
 * Layer norms: gamma and beta drawn or given, before a part of a layer or behind it.
 *
 * Of the rewrite's sublayers of one part only the first reads through the norm, unless another asks
 * for it again: the others read columns that the first has filled, which are no part of what is
 * normalised.
 */
#include "norm.h"

#include "append.h"

#include <stdio.h>

/* [columns], drawn as mean + N(0, 1/16). */
static const double *draw(Stack *stack, const char *name, size_t columns, double mean)
{
    static const double absent = 0;
    if (stack->outline) {
        return &absent;
    }
    double *drawn =
        draw_tensor(stack->arena, stack->spec, name, (TensorShape){1, 1, columns, 0}, 0.25);
    size_t written = arena_is_hollow(stack->arena) ? 0 : columns;
    for (size_t c = 0; c < written; c++) {
        drawn[c] += mean;
    }
    return drawn;
}

/* The drawn norm whose tensors are NAME.w and NAME.b; w and b: those given, or NULL. */
static LayerNorm norm_make(Stack *stack, const char *name, Columns columns, const double *w,
                           const double *b)
{
    const CaseSpec *spec = stack->spec;
    LayerNorm norm = {.kind = spec->norm,
                      .columns = columns,
                      .gamma = w,
                      .beta = spec->norm == NORMALIZATION_LAYERNORM ? b : NULL,
                      .eps = spec->norm_eps,
                      .tokens_only = spec->norm_tokens_only};
    char full[64];
    if (w == NULL) {
        snprintf(full, sizeof full, "%s.w", name);
        norm.gamma = draw(stack, full, columns.count, 1);
    }
    if (w == NULL && spec->norm == NORMALIZATION_LAYERNORM) {
        snprintf(full, sizeof full, "%s.b", name);
        norm.beta = draw(stack, full, columns.count, 0);
    }
    return norm;
}

void norm_open(Stack *stack, size_t layer, LayerPart part, Columns columns)
{
    const CaseSpec *spec = stack->spec;
    const GivenLayer *given =
        spec->given != NULL && spec->given->layers != NULL ? &spec->given->layers[layer] : NULL;
    char name[32];
    if (spec->norm == NORMALIZATION_NONE) {
        return;
    }
    snprintf(name, sizeof name, "blocks.%zu.ln%d", layer, part == PART_FIRST ? 1 : 2);
    stack->norm = given == NULL ? norm_make(stack, name, columns, NULL, NULL)
                  : part == PART_FIRST
                      ? norm_make(stack, name, columns, given->ln1_w, given->ln1_b)
                      : norm_make(stack, name, columns, given->ln2_w, given->ln2_b);
    stack->original_normed = spec->norm_place == NORM_PRE;
    stack->converted_normed = spec->norm_place == NORM_PRE;
}

void norm_again(Stack *stack)
{
    stack->converted_normed =
        stack->norm.kind != NORMALIZATION_NONE && stack->spec->norm_place == NORM_PRE;
}

void norm_close(Stack *stack)
{
    const LayerNorm *norm = &stack->norm;
    if (norm->kind != NORMALIZATION_NONE && stack->spec->norm_place == NORM_POST) {
        append_norm(stack, norm);
    }
    stack->norm = (LayerNorm){.kind = NORMALIZATION_NONE};
}

LayerNorm norm_final(Stack *stack)
{
    const CaseSpec *spec = stack->spec;
    const GivenWeights *given = spec->given;
    if (spec->norm == NORMALIZATION_NONE || spec->norm_place == NORM_POST ||
        (given != NULL && given->ln_final_w == NULL)) {
        return (LayerNorm){.kind = NORMALIZATION_NONE};
    }
    return norm_make(stack, "ln_final", stack_content(stack),
                     given != NULL ? given->ln_final_w : NULL,
                     given != NULL ? given->ln_final_b : NULL);
}
