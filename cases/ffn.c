/*
 * The weights of the original's feed-forward network, drawn or given.
 */
#include "construct.h"

#include <math.h>

/* Drawn: W1 ~ N(0, 1/D), W2 ~ N(0, 1/H)/sqrt(2L), biases N(0, 1/16); `normal`: all N(0, 1). */
static GivenLayer draw(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    size_t d = spec->d, hidden = spec->d_ff;
    const TensorShape in = {1, d, hidden, 0}, of_hidden = {1, 1, hidden, 0};
    bool normal = spec->weights == WEIGHTS_NORMAL, gated = case_is_gated(spec);
    double scale = normal ? 1 : sqrt(1 / (double)d), bias = normal ? 1 : 0.25,
           scale2 = normal ? 1 : sqrt(1 / (2 * (double)hidden * (double)spec->depth));
    GivenLayer own = {.w_in = stack_draw(stack, layer, "mlp.W_in", in, scale)};
    own.w_out = stack_draw(stack, layer, "mlp.W_out", (TensorShape){1, hidden, d, 0}, scale2);
    if (gated) {
        own.w_gate = stack_draw(stack, layer, "mlp.W_gate", in, scale);
    }
    if (spec->bias == BIAS_RANDOM) {
        own.b_in = stack_draw(stack, layer, "mlp.b_in", of_hidden, bias);
        own.b_out = stack_draw(stack, layer, "mlp.b_out", (TensorShape){1, 1, d, 0}, bias);
    }
    if (spec->bias == BIAS_RANDOM && gated) {
        own.b_gate = stack_draw(stack, layer, "mlp.b_gate", of_hidden, bias);
    }
    return own;
}

/* The activated factor of a gated network is W_gate, the other one W_in. */
Direct ffn_weights(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    Columns content = stack_content(stack);
    bool gated = case_is_gated(spec);
    const GivenLayer own = spec->given != NULL ? spec->given->layers[layer] : draw(stack, layer);
    Direct ffn = {.kind = DIRECT_FFN,
                  .activation = spec->activation,
                  .read = content,
                  .write = content,
                  .hidden = spec->d_ff,
                  .w1 = gated ? own.w_gate : own.w_in,
                  .b1 = gated ? own.b_gate : own.b_in,
                  .w2 = own.w_out,
                  .b2 = own.b_out,
                  .w3 = gated ? own.w_in : NULL,
                  .b3 = gated ? own.b_in : NULL};
    ffn.w1 = stack_scaled(stack, ffn.w1, spec->d * spec->d_ff);
    ffn.b1 = stack_scaled(stack, ffn.b1, spec->d_ff);
    return ffn;
}
