/*
 * The constructions `transformer` and `transformer3`: attention, then a feed-forward network in
 * the fused or the three-sublayer form.
 */
#include "construct.h"

void transformer3_layer(Stack *stack, size_t layer)
{
    attention_layer(stack, layer);
    ffn3_layer(stack, layer);
}

void transformer_layer(Stack *stack, size_t layer)
{
    attention_layer(stack, layer);
    stack->beside = stack->spec->parallel;
    fused_layer(stack, layer);
    stack->beside = false;
}
