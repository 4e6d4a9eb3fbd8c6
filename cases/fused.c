/*
 * The construction `fused`: one head a hidden unit does the work of linear map, SiLU and linear
 * map at once; and `masked`, the same with masks in place of Omega.
 */
#include "construct.h"

/* One head a hidden unit, for one term of the activation of x W1 + b1, times W2; W1 [d, hidden],
 * W2 [hidden, d].  Head of hidden unit k: Q[c, p_i] = W1[c, k] and Q[p_j, p_i] += b1_k for tokens
 * i, j, 2 Omega from every row to itself and from tokens to the bias row; V = W1[:, k] W2[k, :]
 * with b1_k W2[k, :] on the token position rows.  With z = x W1[:, k] + b1_k a token attends itself
 * with weight sigma(z) and the bias row with the rest: sigma(z) z W2[k, :].  A term multiplies the
 * gate and its bias by its gate, V by its value, and adds its shift to the gate, which is in the
 * same entries of Q as the bias.  Of a gated network with sigma the values are x W3 + b3. */
Bundle fused_heads(Stack *stack, const Direct *ffn, Term term, Visible visible)
{
    HeadWeight unit_in = {ffn->w1, ffn->hidden, 1}; /* head k: column k of W1 */
    bool glu = ffn->activation == ACTIVATION_SIGMOID;
    HeadWeight value_in = glu ? (HeadWeight){ffn->w3, ffn->hidden, 1} : unit_in;
    return (Bundle){
        .heads = ffn->hidden,
        .score = {.kind = SCORE_GATE,
                  .read = ffn->read,
                  .gate = unit_in,
                  .gate_bias = ffn->b1,
                  .gate_scale = term.gate,
                  .gate_shift = stack_repeated(stack, term.shift, ffn->hidden),
                  .position = {.token_self = 2, .token_bias = 2, .bias_self = 2},
                  .visible = visible},
        .value = {.read = ffn->read,
                  .write = ffn->write,
                  .d_head = 1,
                  .v = value_in,
                  .o = {ffn->w2, ffn->write.count, ffn->write.count}, /* head k: row k of W2 */
                  .inner_bias = glu ? ffn->b3 : ffn->b1,
                  .scale = term.value},
    };
}

/* One sublayer: a head a hidden unit and term, and for b2 one self-attending head beside them. */
static void append(Stack *stack, const Direct *ffn, bool masked)
{
    Visible visible = masked ? VISIBLE_SELF_AND_BIAS : stack_visible(stack);
    Terms terms = activation_terms(stack->spec);
    Bundle bundles[GELU_TERMS_MOST + 1];
    size_t count = 0;
    for (size_t t = 0; t < terms.count; t++) {
        bundles[count++] = fused_heads(stack, ffn, terms.term[t], visible);
    }
    if (ffn->b2 != NULL) {
        visible = masked ? VISIBLE_SELF : visible;
        const Direct bias = {.read = ffn->read, .write = ffn->write, .b1 = ffn->b2};
        bundles[count++] = linear_head(&bias, 0, visible);
    }
    for (size_t b = 0; masked && b < count; b++) {
        bundles[b].score.position = (PositionScores){0};
    }
    append_converted(stack, bundles, count);
}

/* Of `masked` (arXiv 2309.08593) heads have masks and no Omega: that of hidden unit k has
 * Q = (W1[:, k]; b1_k) times the constant column under the mask {self, bias row}.  A token's scores
 * are z toward itself and 0 toward the bias row, so that it attends itself with weight sigma(z):
 * the fused head.  b2 takes a head under the mask {self}. */
void fused_layer(Stack *stack, size_t layer)
{
    norm_open(stack, layer, PART_FFN, stack_content(stack));
    Direct ffn = ffn_weights(stack, layer);
    append_direct(stack, ffn);
    if (case_reads_out(stack->spec)) {
        gated_append(stack, &ffn);
    } else {
        append(stack, &ffn, construction_info(stack->spec->construction)->masked);
    }
    norm_close(stack);
}
