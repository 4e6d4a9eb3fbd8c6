/*
 * The construction `silu`: one head a column turns x into SiLU(x).
 */
#include "construct.h"

/* SiLU head of column k: Q[k, p_i] = -1 for tokens i, 2 Omega from every row to itself and from
 * tokens to the bias row, V[k, k] = -1.  A token attends itself with weight 1 - sigma(x) and the
 * bias row with sigma(x), so that stream plus head is x sigma(x).  A term multiplies the scores by
 * its gate and V by its value; its shift, as the gate, has the other sign here, and rides on the
 * tokens' position rows: Q[p_j, p_i] = -shift for tokens i, j. */
static Bundle silu_heads(Stack *stack, Columns columns, Term term)
{
    return (Bundle){
        .heads = columns.count,
        .score = {.kind = SCORE_GATE,
                  .read = columns,
                  .gate_unit = -1,
                  .gate_scale = term.gate,
                  .gate_shift = stack_repeated(stack, -term.shift, columns.count),
                  .position = {.token_self = 2, .token_bias = 2, .bias_self = 2},
                  .visible = stack_visible(stack)},
        .value = {.read = columns, .write = columns, .unit = -1, .scale = term.value},
    };
}

void silu_append(Stack *stack, Columns columns)
{
    Terms terms = activation_terms(stack->spec);
    Bundle bundles[GELU_TERMS_MOST];
    for (size_t t = 0; t < terms.count; t++) {
        bundles[t] = silu_heads(stack, columns, terms.term[t]);
    }
    append_converted(stack, bundles, terms.count);
}

void silu_layer(Stack *stack, size_t layer)
{
    Columns content = stack_content(stack);
    norm_open(stack, layer, PART_FIRST, content);
    append_direct(stack, (Direct){.kind = DIRECT_ACTIVATION,
                                  .activation = stack->spec->activation,
                                  .read = content,
                                  .write = content});
    silu_append(stack, content);
    norm_close(stack);
}
