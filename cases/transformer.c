/*
 * The constructions `transformer` and `transformer3`: attention, then a feed-forward network in
 * the fused or the three-sublayer form.
 */
#include "construct.h"

/* An original layer is attention, then the feed-forward network. */
static Direct transformer_original(Stack *stack, size_t layer)
{
    Bundle heads = attention_heads(stack, layer), patched = attention_patched(stack, heads);
    Direct ffn = ffn_weights(stack, layer);
    stack_original_heads(stack, heads);
    stack_original_direct(stack, ffn);
    stack_converted(stack, &patched, 1);
    return ffn;
}

void transformer3_layer(Stack *stack, size_t layer)
{
    Direct ffn = transformer_original(stack, layer);
    ffn3_append(stack, &ffn);
}

void transformer_layer(Stack *stack, size_t layer)
{
    Direct ffn = transformer_original(stack, layer);
    fused_append(stack, &ffn);
}
