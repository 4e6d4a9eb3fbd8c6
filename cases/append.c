/*
 * Sublayers appended to the original and to the rewrite; the rewrite's are damaged, and written
 * with negative coefficients too, as the case asks.
 */
#include "append.h"

#include "damage.h"
#include "penalty.h"

#include <string.h>

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
        (Sublayer){.norm = take_norm(&stack->original_normed, stack), .direct = direct};
}

/* A sublayer's own copy of its bundles. */
static Sublayer heads_sublayer(Stack *stack, const Bundle *bundles, size_t count)
{
    Bundle *copy = arena_take(stack->arena, count, sizeof *copy);
    if (copy == NULL) {
        stack->failed = true;
        return (Sublayer){0};
    }
    memcpy(copy, bundles, count * sizeof *copy);
    return (Sublayer){.bundles = copy, .bundle_count = count};
}

void append_heads(Stack *stack, Bundle bundle)
{
    Sublayer sublayer = heads_sublayer(stack, &bundle, 1);
    sublayer.norm = take_norm(&stack->original_normed, stack);
    stack->original[stack->original_count++] = sublayer;
}

void append_converted(Stack *stack, const Bundle *bundles, size_t count)
{
    Sublayer sublayer = heads_sublayer(stack, bundles, count);
    sublayer.norm = take_norm(&stack->converted_normed, stack);
    damage_norm(stack, &sublayer.norm);
    damage_bundles(stack, (Bundle *)sublayer.bundles, sublayer.bundle_count);
    if (stack->negative != NULL) {
        Sublayer negative = heads_sublayer(stack, sublayer.bundles, sublayer.bundle_count);
        negative.norm = sublayer.norm;
        penalty_make_negative(stack, (Bundle *)negative.bundles, negative.bundle_count);
        stack->negative[stack->converted_count] = negative;
    }
    stack->converted[stack->converted_count++] = sublayer;
}

void append_norm(Stack *stack, const LayerNorm *norm)
{
    Sublayer behind = {
        .norm = *norm,
        .direct = {.kind = DIRECT_NORM, .read = norm->columns, .write = norm->columns}};
    stack->original[stack->original_count++] = behind;
    damage_norm(stack, &behind.norm);
    if (stack->negative != NULL) {
        stack->negative[stack->converted_count] = behind;
    }
    stack->converted[stack->converted_count++] = behind;
}
