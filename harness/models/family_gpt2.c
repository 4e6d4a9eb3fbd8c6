/*
 * The names of Hugging Face's GPT-2, and of nanoGPT, which has the same.
 *
 * Hugging Face's matrices are "Conv1D": [in, out], as they stand here.  Those of nanoGPT (and of
 * minGPT as it is now) are torch.nn.Linear's: [out, in].  The matrix of queries, keys and values,
 * three times as long as it is wide, tells which.
 */
#include "family.h"

/* biased: every file has biases; then how the matrices lie: those of queries, keys and values, of
 * the heads' outputs, and of the network. */
#define GPT2_NAMES(biased, qkv, outputs, network)                                                  \
    {"ln_1.weight", SLOT_LN1_W, 1, NULL, (biased)}, {"ln_1.bias", SLOT_LN1_B, 1, NULL, (biased)},  \
        {"attn.c_attn.weight", SLOT_W_Q, 3, (qkv), true},                                          \
        {"attn.c_attn.bias", SLOT_B_Q, 3, "p01", (biased)},                                        \
        MAP("attn.c_proj", SLOT_W_O, outputs, SLOT_B_O, NULL, biased),                             \
        {"ln_2.weight", SLOT_LN2_W, 1, NULL, (biased)},                                            \
        {"ln_2.bias", SLOT_LN2_B, 1, NULL, (biased)},                                              \
        MAP("mlp.c_fc", SLOT_W_IN, network, SLOT_B_IN, NULL, biased),                              \
        MAP("mlp.c_proj", SLOT_W_OUT, network, SLOT_B_OUT, NULL, biased),                          \
        {"wte.weight", SLOT_W_E, 1, NULL, true}, {"wpe.weight", SLOT_W_POS, 1, NULL, true},        \
        {"ln_f.weight", SLOT_LN_FINAL_W, 1, NULL, (biased)},                                       \
        {"ln_f.bias", SLOT_LN_FINAL_B, 1, NULL, (biased)},                                         \
        {"lm_head.weight", SLOT_W_U, 1, "1 0", false},                                             \
    {                                                                                              \
        "lm_head.bias", SLOT_B_U, 1, NULL, false                                                   \
    }

static const TensorName conv1d[] = {GPT2_NAMES(true, "1 p02", "01 2", NULL), {.name = NULL}};
static const TensorName linear[] = {GPT2_NAMES(false, "p02 1", "2 01", "1 0"), {.name = NULL}};

/* The causal mask, and what its scores are set to. */
static const char *const buffers[] = {"attn.bias", "attn.masked_bias", NULL};

static FamilyWords gpt2[] = {
    {"mask", "causal"},       {"normalization", "layernorm"}, {"normalization-place", "pre"},
    {"positions", "learned"}, {"blocks", "sequential"},       {NULL, NULL}};

const Family family_gpt2 = {.title = "Hugging Face's GPT-2",
                            .layer = "h.",
                            .names = conv1d,
                            .buffers = buffers,
                            .tied = true,
                            .splits = true,
                            .implied = gpt2};

const Family family_nanogpt = {.title = "nanoGPT",
                               .layer = "h.",
                               .names = linear,
                               .buffers = buffers,
                               .tied = true,
                               .splits = true,
                               .usual = family_usual};
