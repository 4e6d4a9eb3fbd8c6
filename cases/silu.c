#include "construct.h"

/* SiLU head of column k: Q[k, p_i] = -1 for tokens i, 2 Omega from every row to itself and from
 * tokens to the bias row, V[k, k] = -1.  A token attends itself with weight 1 - sigma(x) and the
 * bias row with sigma(x), so that stream plus head is x sigma(x). */
Bundle silu_heads(Columns columns, bool causal)
{
    return (Bundle){
        .heads = columns.count,
        .score = {.kind = SCORE_GATE,
                  .read = columns,
                  .gate_unit = -1,
                  .position = {.token_self = 2, .token_bias = 2, .bias_self = 2},
                  .causal = causal},
        .value = {.kind = VALUE_UNIT, .read = columns, .write = columns, .unit = -1},
    };
}

void silu_layer(Stack *stack, size_t layer)
{
    (void)layer; /* an activation has no weights */
    Columns content = stack_content(stack);
    Bundle heads = silu_heads(content, stack->spec->mask == MASK_CAUSAL);
    stack_original_direct(stack,
                          (Direct){.kind = DIRECT_ACTIVATION, .read = content, .write = content});
    stack_converted(stack, &heads, 1);
}
