/*
 * Masks: which token may attend to which; as a mask in the original, and as +Omega on allowed keys
 * where the rewrite has it in its weights.
 */
#include "construct.h"

#include "draw.h"
#include "stack.h"

/* Keys of the random mask, beside a row itself. */
#define RANDOM_SHARE 0.5

bool mask_allows(const CaseSpec *spec, size_t i, size_t j)
{
    switch (spec->mask) {
    case MASK_PSEUDO_BAND: return j <= i && i - j < spec->band;
    case MASK_PSEUDO_RANDOM:
        return i == j || draw_uniform(spec->seed, draw_hash("mask"), 0, i, j) < RANDOM_SHARE;
    default: return j <= i;
    }
}

double mask_entries(const CaseSpec *spec)
{
    double entries = 0;
    for (size_t e = 0; mask_is_pseudo(spec->mask) && e < spec->n * spec->n; e++) {
        entries += mask_allows(spec, e / spec->n, e % spec->n);
    }
    return entries;
}

/* T has the mask as a mask: the causal one as such, the others listed. */
void mask_original(Stack *stack, Score *score)
{
    size_t n = stack->spec->n;
    bool listed = mask_is_pseudo(stack->spec->mask) && stack->spec->mask != MASK_PSEUDO_CAUSAL;
    score->visible = stack->spec->mask == MASK_NONE ? VISIBLE_ALL : VISIBLE_EARLIER;
    if (!listed || stack->outline) {
        return;
    }
    if (stack->listed == NULL) {
        unsigned char *list = arena_take(stack->arena, n, n);
        for (size_t e = 0; e < n * n; e++) {
            list[e] = mask_allows(stack->spec, e / n, e % n);
        }
        stack->listed = list;
    }
    score->visible = VISIBLE_LISTED;
    score->listed = stack->listed;
}

/* T' has no mask, and Omega more in the score of every key that T's lets a token see. */
void mask_converted(Stack *stack, Score *score)
{
    Layout layout = case_converted_layout(stack->spec);
    size_t rows = layout_rows(&layout), n = stack->spec->n;
    if (!mask_is_pseudo(stack->spec->mask)) {
        return;
    }
    score->visible = VISIBLE_ALL;
    score->listed = NULL;
    if (stack->outline) {
        return;
    }
    if (stack->pseudo == NULL) {
        signed char *extra = arena_take(stack->arena, rows, rows);
        for (size_t e = 0; e < n * n; e++) {
            size_t i = layout_token_row(&layout, e / n), j = layout_token_row(&layout, e % n);
            extra[i * rows + j] = mask_allows(stack->spec, e / n, e % n);
        }
        stack->pseudo = extra;
    }
    score->extra = stack->pseudo;
}
