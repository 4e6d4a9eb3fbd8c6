/*
 * The names of Hugging Face's GPT-2.
 *
 * Its matrices are "Conv1D": [in, out], as they stand here.
 */
#include "family.h"

static const TensorName names[] = {
    {"ln_1.weight", SLOT_LN1_W, 1, NULL, true},
    {"ln_1.bias", SLOT_LN1_B, 1, NULL, true},
    {"attn.c_attn.weight", SLOT_W_Q, 3, "1 p02", true}, /* W_Q, W_K, W_V, heads side by side */
    {"attn.c_attn.bias", SLOT_B_Q, 3, "p01", true},     /* b_Q, b_K, b_V */
    {"attn.c_proj.weight", SLOT_W_O, 1, "01 2", true},
    {"attn.c_proj.bias", SLOT_B_O, 1, NULL, true},
    {"ln_2.weight", SLOT_LN2_W, 1, NULL, true},
    {"ln_2.bias", SLOT_LN2_B, 1, NULL, true},
    {"mlp.c_fc.weight", SLOT_W_IN, 1, NULL, true},
    {"mlp.c_fc.bias", SLOT_B_IN, 1, NULL, true},
    {"mlp.c_proj.weight", SLOT_W_OUT, 1, NULL, true},
    {"mlp.c_proj.bias", SLOT_B_OUT, 1, NULL, true},
    {"wte.weight", SLOT_W_E, 1, NULL, true},
    {"wpe.weight", SLOT_W_POS, 1, NULL, true},
    {"ln_f.weight", SLOT_LN_FINAL_W, 1, NULL, true},
    {"ln_f.bias", SLOT_LN_FINAL_B, 1, NULL, true},
    {"lm_head.weight", SLOT_W_U, 1, "1 0", false},
    {"lm_head.bias", SLOT_B_U, 1, NULL, false},
    {"X", SLOT_X, 1, NULL, false},
    {"tokens", SLOT_TOKENS, 1, NULL, false},
    WITNESS_NAMES,
    {.name = NULL},
};

/* The causal mask, and what its scores are set to. */
static const char *const buffers[] = {"attn.bias", "attn.masked_bias", NULL};

static const char *const implied[][2] = {
    {"mask", "causal"},       {"normalization", "layernorm"}, {"normalization-place", "pre"},
    {"positions", "learned"}, {"blocks", "sequential"},       {NULL, NULL}};

const Family family_gpt2 = {.title = "Hugging Face's GPT-2",
                            .prefix = "transformer.",
                            .layer = "h.",
                            .names = names,
                            .buffers = buffers,
                            .tied = true,
                            .splits = true,
                            .implied = implied};
