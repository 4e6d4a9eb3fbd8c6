/*
 * The names of minGPT as it was first, whose queries, keys and values are maps of their own.
 *
 * Its matrices are torch.nn.Linear's: [out, in].
 */
#include "family.h"

static const TensorName names[] = {
    {"ln1.weight", SLOT_LN1_W, 1, NULL, false},
    {"ln1.bias", SLOT_LN1_B, 1, NULL, false},
    {"attn.query.weight", SLOT_W_Q, 1, "02 1", true},
    {"attn.query.bias", SLOT_B_Q, 1, "01", false},
    {"attn.key.weight", SLOT_W_K, 1, "02 1", true},
    {"attn.key.bias", SLOT_B_K, 1, "01", false},
    {"attn.value.weight", SLOT_W_V, 1, "02 1", true},
    {"attn.value.bias", SLOT_B_V, 1, "01", false},
    {"attn.proj.weight", SLOT_W_O, 1, "2 01", true},
    {"attn.proj.bias", SLOT_B_O, 1, NULL, false},
    {"ln2.weight", SLOT_LN2_W, 1, NULL, false},
    {"ln2.bias", SLOT_LN2_B, 1, NULL, false},
    {"mlp.0.weight", SLOT_W_IN, 1, "1 0", true},
    {"mlp.0.bias", SLOT_B_IN, 1, NULL, false},
    {"mlp.2.weight", SLOT_W_OUT, 1, "1 0", true},
    {"mlp.2.bias", SLOT_B_OUT, 1, NULL, false},
    {"tok_emb.weight", SLOT_W_E, 1, NULL, true},
    {"pos_emb", SLOT_W_POS, 1, "u 0 1", true},
    {"ln_f.weight", SLOT_LN_FINAL_W, 1, NULL, false},
    {"ln_f.bias", SLOT_LN_FINAL_B, 1, NULL, false},
    {"head.weight", SLOT_W_U, 1, "1 0", true},
    {"head.bias", SLOT_B_U, 1, NULL, false},
    {"X", SLOT_X, 1, NULL, false},
    {"tokens", SLOT_TOKENS, 1, NULL, false},
    WITNESS_NAMES,
    {.name = NULL},
};

static const char *const buffers[] = {"attn.mask", NULL};

static FamilyWords none[] = {{NULL, NULL}};

const Family family_mingpt = {.title = "minGPT",
                              .layer = "blocks.",
                              .names = names,
                              .buffers = buffers,
                              .splits = true,
                              .implied = none,
                              .usual = family_usual};
