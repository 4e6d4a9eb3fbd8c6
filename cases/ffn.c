#include "construct.h"

#include <math.h>

/* W1 ~ N(0, 1/D), W2 ~ N(0, 1/H)/sqrt(2L), biases N(0, 1/16); `normal`: all N(0, 1). */
Direct ffn_draw(Stack *stack, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    Columns content = stack_content(stack);
    size_t d = spec->d, hidden = spec->d_ff;
    bool normal = spec->weights == WEIGHTS_NORMAL;
    double scale1 = normal ? 1 : sqrt(1 / (double)d);
    double scale2 = normal ? 1 : sqrt(1 / (2 * (double)hidden * (double)spec->depth));
    Direct ffn = {.kind = DIRECT_FFN, .read = content, .write = content, .hidden = hidden};
    ffn.w1 = stack_draw(stack, layer, "mlp.W_in", 1, d, hidden, scale1);
    ffn.w2 = stack_draw(stack, layer, "mlp.W_out", 1, hidden, d, scale2);
    if (spec->bias == BIAS_RANDOM) {
        ffn.b1 = stack_draw(stack, layer, "mlp.b_in", 1, 1, hidden, normal ? 1 : 0.25);
        ffn.b2 = stack_draw(stack, layer, "mlp.b_out", 1, 1, d, normal ? 1 : 0.25);
    }
    return ffn;
}
