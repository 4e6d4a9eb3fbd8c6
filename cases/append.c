/*
 * Sublayers appended to the original and to the rewrite; the rewrite's are damaged as the case
 * asks.  And the rewrite with negative coefficients.
 */
#include "append.h"

#include "stack.h"

#include <string.h>

/* ---- Penalties ------------------------------------------------------------------------------- */

/* The coefficients of Omega as penalties: what a row attends to has coefficient 0, and what it is
 * to ignore a negative one (docs/mathematics.md, section 1).
 *
 * A softmax does not change when a number is subtracted from all scores of its row.  Here that is
 * Omega times the row's largest coefficient, which in every construction is that of its own key: a
 * row sees itself, no construction favours another key above that, and every mask allows it. */

/* The coefficient that a pseudo-mask adds to a token's own key. */
enum { PSEUDO_OWN = 1 };

/* token_self and bias_self become 0. */
static PositionScores less_own(PositionScores position)
{
    return (PositionScores){.token_token = position.token_token - position.token_self,
                            .token_bias = position.token_bias - position.token_self,
                            .bias_token = position.bias_token - position.bias_self};
}

/* A pseudo-mask in this form: -1 on every key that it hides, in place of +1 on the others.  A token
 * has no entry toward the bias row, whose share goes to the position scores. */
static const signed char *hidden_keys(const Stack *stack)
{
    Layout layout = case_converted_layout(stack->spec);
    size_t rows = layout_rows(&layout), n = layout.n;
    signed char *hidden = stack->pseudo != NULL ? arena_take(stack->arena, rows, rows) : NULL;
    for (size_t e = 0; hidden != NULL && e < n * n; e++) {
        size_t i = layout_token_row(&layout, e / n), j = layout_token_row(&layout, e % n);
        hidden[i * rows + j] = (signed char)(stack->pseudo[i * rows + j] - PSEUDO_OWN);
    }
    return hidden;
}

const Sublayer *append_penalties(const Stack *stack)
{
    const signed char *hidden = hidden_keys(stack);
    Sublayer *negative = arena_take(stack->arena, stack->converted_count, sizeof *negative);
    for (size_t s = 0; s < stack->converted_count; s++) {
        const Sublayer *own = &stack->converted[s];
        Bundle *bundles = arena_take(stack->arena, own->bundle_count, sizeof *bundles);
        for (size_t b = 0; b < own->bundle_count; b++) {
            bundles[b] = own->bundles[b];
            Score *score = &bundles[b].score;
            score->position = less_own(score->position);
            if (score->extra != NULL) {
                score->extra = hidden;
                score->position.token_bias -= PSEUDO_OWN;
            }
        }
        negative[s] = *own;
        negative[s].bundles = bundles;
    }
    return negative;
}

/* ---- Sublayers ------------------------------------------------------------------------------- */

/* The part's norm where *wanted, which it no longer is; else none. */
static LayerNorm take_norm(bool *wanted, const Stack *stack)
{
    LayerNorm taken = *wanted ? stack->norm : (LayerNorm){.kind = NORMALIZATION_NONE};
    *wanted = false;
    return taken;
}

void append_direct(Stack *stack, Direct direct)
{
    stack->original[stack->original_count++] =
        (Sublayer){.norm = take_norm(&stack->original_normed, stack),
                   .beside = stack->beside,
                   .direct = direct};
}

/* A sublayer's own copy. */
static Bundle *copy_bundles(const Stack *stack, const Bundle *bundles, size_t count)
{
    Bundle *copy = arena_take(stack->arena, count, sizeof *copy);
    memcpy(copy, bundles, count * sizeof *copy);
    return copy;
}

void append_heads(Stack *stack, Bundle bundle)
{
    stack->original[stack->original_count++] =
        (Sublayer){.norm = take_norm(&stack->original_normed, stack),
                   .bundles = copy_bundles(stack, &bundle, 1),
                   .bundle_count = 1};
}

void append_converted(Stack *stack, const Bundle *bundles, size_t count)
{
    Bundle *own = copy_bundles(stack, bundles, count);
    Sublayer sublayer = {.norm = take_norm(&stack->converted_normed, stack),
                         .beside = stack->beside,
                         .bundles = own,
                         .bundle_count = count};
    for (size_t b = 0; b < count && stack->spec->bias_self == BIAS_SELF_FOURFOLD; b++) {
        own[b].score.position.bias_self *= 2;
    }
    damage_norm(stack, &sublayer.norm);
    damage_bundles(stack, own, count);
    stack->converted[stack->converted_count++] = sublayer;
}

void append_norm(Stack *stack, const LayerNorm *norm)
{
    Sublayer behind = {
        .norm = *norm,
        .direct = {.kind = DIRECT_NORM, .read = norm->columns, .write = norm->columns}};
    stack->original[stack->original_count++] = behind;
    damage_norm(stack, &behind.norm);
    stack->converted[stack->converted_count++] = behind;
}
