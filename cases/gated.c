/*
 * The gated network (act(x W_g + c_g) * (x W_u + c_u)) W_d + c_d as heads, of any act but sigma,
 * whose gate is exact: heads put act into hidden columns, and the product is read out of a score.
 */
#include "construct.h"

/* Queries h_k W_d[k, c] of head c, keys x W_u + c_u of all: the score of a row toward itself, times
 * tau, is tau y_c, and 0 toward the bias row.  So the head writes value times the difference of the
 * two weights, value tanh(tau y_c/2), and -value into an empty bias row.  h: hidden columns, or
 * for act(x) = x itself x W_g + c_g. */
static Bundle readout_heads(const Stack *stack, const Direct *ffn, Columns hidden, ReadoutPair pair)
{
    Score score = {.kind = SCORE_BILINEAR,
                   .read = ffn->read,
                   .query = hidden,
                   .d_head = ffn->hidden,
                   .k = {ffn->w3, ffn->hidden, 0},
                   .k_bias = ffn->b3,
                   .mix = {ffn->w2, ffn->write.count, 1}, /* head c: column c of W_d */
                   .scale = {1, 1, 1},
                   .position = {.token_self = 2, .token_bias = 2, .bias_self = 2},
                   .visible = stack_visible(stack)};
    *(pair.tau < 1 ? &score.scale.den : &score.scale.num) =
        (long)(pair.tau < 1 ? 1 / pair.tau : pair.tau);
    if (hidden.count == 0) {
        score.q = (HeadWeight){ffn->w1, ffn->hidden, 0};
        score.q_bias = ffn->b1;
    }
    return (Bundle){
        .heads = ffn->write.count,
        .score = score,
        .value = {.read = ffn->read, .write = ffn->write, .d_head = 1, .scale = pair.value}};
}

/* K pairs; beside each a head that gives the bias row back what it wrote into itself, the first of
 * which also adds c_d and clears the hidden columns. */
static void append_readout(Stack *stack, const Direct *ffn, Columns hidden)
{
    size_t pairs = readout_pairs(stack->spec), count = 0;
    Bundle bundles[2 * READOUT_MOST];
    for (size_t j = 0; j < pairs; j++) {
        ReadoutPair pair = readout_pair(stack->spec, j);
        const Direct back = {.read = j == 0 && hidden.count > 0 ? hidden : ffn->read,
                             .write = ffn->write,
                             .b1 = j == 0 ? ffn->b2 : NULL};
        bundles[count++] = readout_heads(stack, ffn, hidden, pair);
        bundles[count] =
            linear_head(&back, j == 0 && hidden.count > 0 ? -1 : 0, stack_visible(stack));
        bundles[count++].value.bias_row = pair.value;
    }
    append_converted(stack, bundles, count);
}

void gated_append(Stack *stack, const Direct *ffn)
{
    Columns hidden = stack_hidden(stack);
    if (ffn->activation == ACTIVATION_NONE) {
        append_readout(stack, ffn, (Columns){0, 0});
        return;
    }
    Terms terms = activation_terms(stack->spec);
    Bundle bundles[GELU_TERMS_MOST];
    for (size_t t = 0; t < terms.count; t++) {
        bundles[t] = fused_heads(stack, ffn, terms.term[t], stack_visible(stack));
        bundles[t].value.write = hidden;
        bundles[t].value.o = (HeadWeight){NULL, 0, 0};
    }
    append_converted(stack, bundles, terms.count);
    norm_again(stack);
    append_readout(stack, ffn, hidden);
    stack->cleared = hidden;
}
