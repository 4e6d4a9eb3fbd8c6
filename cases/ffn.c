/*
 * The weights of the original's feed-forward network, drawn or given.
 */
#include "construct.h"

#include <math.h>

/* W1 or its like, and its bias. */
typedef struct {
    const char *w, *b;
} InNames;

static void draw_in(Stack *stack, const double **w, const double **b, size_t layer, InNames names)
{
    const CaseSpec *spec = stack->spec;
    size_t d = spec->d, hidden = spec->d_ff;
    bool normal = spec->weights == WEIGHTS_NORMAL;
    *w = stack_draw(stack, layer, names.w, (TensorShape){1, d, hidden, 0},
                    normal ? 1 : sqrt(1 / (double)d));
    if (spec->bias == BIAS_RANDOM) {
        *b = stack_draw(stack, layer, names.b, (TensorShape){1, 1, hidden, 0}, normal ? 1 : 0.25);
    }
}

/* Drawn: W1 ~ N(0, 1/D), W2 ~ N(0, 1/H)/sqrt(2L), biases N(0, 1/16); `normal`: all N(0, 1).  The
 * activated factor of a gated network is W_gate, the other one W_in. */
static void draw(Stack *stack, Direct *ffn, size_t layer)
{
    const CaseSpec *spec = stack->spec;
    size_t d = spec->d, hidden = spec->d_ff;
    bool normal = spec->weights == WEIGHTS_NORMAL;
    InNames in = {"mlp.W_in", "mlp.b_in"}, gate = {"mlp.W_gate", "mlp.b_gate"};
    double scale2 = normal ? 1 : sqrt(1 / (2 * (double)hidden * (double)spec->depth));
    draw_in(stack, &ffn->w1, &ffn->b1, layer, case_is_gated(spec) ? gate : in);
    if (case_is_gated(spec)) {
        draw_in(stack, &ffn->w3, &ffn->b3, layer, in);
    }
    ffn->w2 = stack_draw(stack, layer, "mlp.W_out", (TensorShape){1, hidden, d, 0}, scale2);
    if (spec->bias == BIAS_RANDOM) {
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
        bool gated = case_is_gated(spec);
        ffn.w1 = gated ? given->w_gate : given->w_in;
        ffn.b1 = gated ? given->b_gate : given->b_in;
        ffn.w3 = gated ? given->w_in : NULL;
        ffn.b3 = gated ? given->b_in : NULL;
        ffn.w2 = given->w_out;
        ffn.b2 = given->b_out;
    } else {
        draw(stack, &ffn, layer);
    }
    ffn.w1 = stack_scaled(stack, ffn.w1, spec->d * spec->d_ff);
    ffn.b1 = stack_scaled(stack, ffn.b1, spec->d_ff);
    return ffn;
}
