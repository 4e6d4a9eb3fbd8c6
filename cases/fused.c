#include "construct.h"

/* Fused head of hidden unit k: Q[c, p_i] = W1[c, k] and Q[p_j, p_i] += b1_k for tokens i, j,
 * 2 Omega from every row to itself and from tokens to the bias row; V = W1[:, k] W2[k, :] with
 * b1_k W2[k, :] on the token position rows.  With z = x W1[:, k] + b1_k a token attends itself
 * with weight sigma(z) and the bias row with the rest: sigma(z) z W2[k, :]. */
Bundle fused_heads(Columns columns, size_t hidden, const double *w1, const double *b1,
                   const double *w2, bool causal)
{
    HeadWeight unit_in = {w1, hidden, 1}; /* head k: column k of W1 */
    return (Bundle){
        .heads = hidden,
        .score = {.kind = SCORE_GATE,
                  .read = columns,
                  .gate = unit_in,
                  .gate_bias = b1,
                  .position = {.token_self = 2, .token_bias = 2, .bias_self = 2},
                  .causal = causal},
        .value = {.kind = VALUE_FACTORED,
                  .read = columns,
                  .write = columns,
                  .d_head = 1,
                  .v = unit_in,
                  .o = {w2, columns.count, columns.count}, /* head k: row k of W2 */
                  .inner_bias = b1},
    };
}

/* One sublayer: a head a hidden unit, and for b2 one self-attending head beside them. */
void fused_append(Stack *stack, const Direct *ffn)
{
    Columns content = stack_content(stack);
    bool causal = stack->spec->mask == MASK_CAUSAL;
    Bundle bundles[2] = {
        fused_heads(content, ffn->hidden, ffn->w1, ffn->b1, ffn->w2, causal),
        linear_head(content, content, NULL, ffn->b2, 0, causal),
    };
    stack_converted(stack, bundles, ffn->b2 != NULL ? 2 : 1);
}

void fused_layer(Stack *stack, size_t layer)
{
    Direct ffn = ffn_draw(stack, layer);
    stack_original_direct(stack, ffn);
    fused_append(stack, &ffn);
}
