/*
 * The construction `masked` (arXiv 2309.08593): heads with an explicit mask {self, bias row}
 * and no Omega.
 */
#include "construct.h"

/* Head of hidden unit k under the mask {self, bias row}, of internal dimension 1: Q = (W1[:, k];
 * b1_k) times the constant column, V = (W1[:, k]; b1_k) W2[k, :].  A token's scores are z toward
 * itself and 0 toward the bias row, so that it attends itself with weight sigma(z): the fused
 * head, without Omega.  b2 takes a head under the mask {self} (arXiv 2309.08593). */
void masked_layer(Stack *stack, size_t layer)
{
    norm_open(stack, layer, PART_FFN, stack_content(stack));
    Direct ffn = ffn_weights(stack, layer);
    Terms terms = activation_terms(stack->spec);
    Bundle bundles[GELU_TERMS_MOST + 1];
    size_t count = 0;
    for (size_t t = 0; t < terms.count; t++) {
        bundles[count++] = fused_heads(stack, &ffn, terms.term[t], VISIBLE_SELF_AND_BIAS);
    }
    if (ffn.b2 != NULL) {
        bundles[count++] = linear_head(ffn.read, ffn.write, NULL, ffn.b2, 0, VISIBLE_SELF);
    }
    for (size_t b = 0; b < count; b++) {
        bundles[b].score.position = (PositionScores){0};
    }
    append_direct(stack, ffn);
    append_converted(stack, bundles, count);
    norm_close(stack);
}
