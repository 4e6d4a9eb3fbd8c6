/*
 * The weights of the original's feed-forward network, drawn or given.
 */
#include "construct.h"

#include <math.h>

/* Drawn: W1 ~ N(0, 1/D), W2 ~ N(0, 1/H)/sqrt(2L), biases N(0, 1/16); `normal`: all N(0, 1). */
static void draw(Stack *stack, Direct *ffn, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    size_t d = spec->d, hidden = spec->d_ff;
    bool normal = spec->weights == WEIGHTS_NORMAL;
    double scale1 = normal ? 1 : sqrt(1 / (double)d);
    double scale2 = normal ? 1 : sqrt(1 / (2 * (double)hidden * (double)spec->depth));
    ffn->w1 = stack_draw(stack, layer, "mlp.W_in", (TensorShape){1, d, hidden, 0}, scale1);
    ffn->w2 = stack_draw(stack, layer, "mlp.W_out", (TensorShape){1, hidden, d, 0}, scale2);
    if (spec->bias == BIAS_RANDOM) {
        ffn->b1 =
            stack_draw(stack, layer, "mlp.b_in", (TensorShape){1, 1, hidden, 0}, normal ? 1 : 0.25);
        ffn->b2 =
            stack_draw(stack, layer, "mlp.b_out", (TensorShape){1, 1, d, 0}, normal ? 1 : 0.25);
    }
}

Direct ffn_weights(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    Columns content = stack_content(stack);
    Direct ffn = {.kind = DIRECT_FFN,
                  .activation = spec->activation,
                  .read = content,
                  .write = content,
                  .hidden = spec->d_ff};
    if (spec->given != NULL) {
        const GivenLayer *given = &spec->given->layers[layer];
        ffn.w1 = given->w_in;
        ffn.b1 = given->b_in;
        ffn.w2 = given->w_out;
        ffn.b2 = given->b_out;
    } else {
        draw(stack, &ffn, layer);
    }
    ffn.w1 = stack_scaled(stack, ffn.w1, spec->d * spec->d_ff);
    ffn.b1 = stack_scaled(stack, ffn.b1, spec->d_ff);
    return ffn;
}
