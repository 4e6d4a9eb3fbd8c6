/*
 * The table of constructions.
 */
#include "construction.h"

const char *const construction_names[CONSTRUCTION_COUNT] = {
    [CONSTRUCTION_SILU] = "silu",
    [CONSTRUCTION_LINEAR] = "linear",
    [CONSTRUCTION_ATTENTION] = "attention",
    [CONSTRUCTION_FFN3] = "ffn3",
    [CONSTRUCTION_FUSED] = "fused",
    [CONSTRUCTION_TRANSFORMER3] = "transformer3",
    [CONSTRUCTION_TRANSFORMER] = "transformer",
    [CONSTRUCTION_MASKED] = "masked",
};

static const ConstructionInfo constructions[CONSTRUCTION_COUNT] = {
    [CONSTRUCTION_SILU] = {.layer = silu_layer, .activation = true, .on_x = true},
    [CONSTRUCTION_LINEAR] = {.layer = linear_layer, .linear = true},
    [CONSTRUCTION_ATTENTION] = {.layer = attention_layer, .heads = true},
    [CONSTRUCTION_FFN3] = {.layer = ffn3_layer,
                           .d_ff = true,
                           .activation = true,
                           .hidden_bank = true},
    [CONSTRUCTION_FUSED] = {.layer = fused_layer, .d_ff = true, .activation = true, .gated = true},
    [CONSTRUCTION_TRANSFORMER3] = {.layer = transformer3_layer,
                                   .heads = true,
                                   .d_ff = true,
                                   .activation = true,
                                   .hidden_bank = true},
    [CONSTRUCTION_TRANSFORMER] = {.layer = transformer_layer,
                                  .heads = true,
                                  .d_ff = true,
                                  .activation = true,
                                  .gated = true},
    [CONSTRUCTION_MASKED] = {.layer = fused_layer,
                             .d_ff = true,
                             .activation = true,
                             .masked = true},
};

const ConstructionInfo *construction_info(Construction construction)
{
    return &constructions[construction];
}
