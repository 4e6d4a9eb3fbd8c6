/*
 * The names of minGPT as it was first, whose queries, keys and values are maps of their own.
 *
 * Its matrices are torch.nn.Linear's: [out, in].
 */
#include "family.h"

static const TensorName names[] = {
    {"ln1.weight", SLOT_LN1_W, 1, NULL, false},
    {"ln1.bias", SLOT_LN1_B, 1, NULL, false},
    MAP("attn.query", SLOT_W_Q, "02 1", SLOT_B_Q, "01", false),
    MAP("attn.key", SLOT_W_K, "02 1", SLOT_B_K, "01", false),
    MAP("attn.value", SLOT_W_V, "02 1", SLOT_B_V, "01", false),
    MAP("attn.proj", SLOT_W_O, "2 01", SLOT_B_O, NULL, false),
    {"ln2.weight", SLOT_LN2_W, 1, NULL, false},
    {"ln2.bias", SLOT_LN2_B, 1, NULL, false},
    MAP("mlp.0", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, false),
    MAP("mlp.2", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, false),
    {"tok_emb.weight", SLOT_W_E, 1, NULL, true},
    {"pos_emb", SLOT_W_POS, 1, "u 0 1", true},
    {"ln_f.weight", SLOT_LN_FINAL_W, 1, NULL, false},
    {"ln_f.bias", SLOT_LN_FINAL_B, 1, NULL, false},
    MAP("head", SLOT_W_U, "1 0", SLOT_B_U, NULL, false),
    {.name = NULL},
};

static const char *const buffers[] = {"attn.mask", NULL};

const Family family_mingpt = {.title = "minGPT",
                              .layer = "blocks.",
                              .names = names,
                              .buffers = buffers,
                              .splits = true,
                              .usual = family_usual};
