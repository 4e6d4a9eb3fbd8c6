/*
 * The construction `ffn3`: a feed-forward network as three sublayers of heads (linear, SiLU,
 * linear with clear).
 */
#include "construct.h"

/* Three sublayers: a linear head fills the hidden columns with x W1 + b1, SiLU heads act on
 * them, a linear head adds hidden W2 + b2 to the content and clears the hidden columns. */
static void append(Stack *stack, const Direct *ffn)
{
    Columns content = stack_content(stack), hidden = stack_hidden(stack);
    const Direct in = {.read = content, .write = hidden, .w1 = ffn->w1, .b1 = ffn->b1};
    const Direct out = {.read = hidden, .write = content, .w1 = ffn->w2, .b1 = ffn->b2};
    linear_append(stack, &in, 0);
    silu_append(stack, hidden);
    linear_append(stack, &out, -1);
    stack->cleared = hidden;
}

void ffn3_layer(Stack *stack, size_t layer)
{
    norm_open(stack, layer, PART_FFN, stack_content(stack));
    Direct ffn = ffn_weights(stack, layer);
    append_direct(stack, ffn);
    append(stack, &ffn);
    norm_close(stack);
}
