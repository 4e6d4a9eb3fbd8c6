/*
 * The names of TransformerLens, which headproof's own files have too.
 *
 * Its matrices are [in, out], with an axis of heads; or heads stand side by side.  What Neel Nanda
 * wrote before it, for "Grokking", has the same names and no axis of heads in W_O alone, and all
 * matrices but the unembedding the other way round: [out, in].
 */
#include "family.h"

/* How the matrices lie: those of queries, keys and values, those of the network and the embedding.
 * What is the same in both. */
#define LENS_NAMES(qkv, network)                                                                   \
    {"attn.W_Q", SLOT_W_Q, 1, (qkv), false}, {"attn.W_K", SLOT_W_K, 1, (qkv), false},              \
        {"attn.W_V", SLOT_W_V, 1, (qkv), false}, {"attn.b_Q", SLOT_B_Q, 1, NULL, false},           \
        {"attn.b_K", SLOT_B_K, 1, NULL, false}, {"attn.b_V", SLOT_B_V, 1, NULL, false},            \
        {"attn.b_O", SLOT_B_O, 1, NULL, false}, {"mlp.W_in", SLOT_W_IN, 1, (network), false},      \
        {"mlp.W_gate", SLOT_W_GATE, 1, (network), false},                                          \
        {"mlp.b_gate", SLOT_B_GATE, 1, NULL, false}, {"mlp.b_in", SLOT_B_IN, 1, NULL, false},      \
        {"mlp.W_out", SLOT_W_OUT, 1, (network), false}, {"mlp.b_out", SLOT_B_OUT, 1, NULL, false}, \
        {"ln1.w", SLOT_LN1_W, 1, NULL, false}, {"ln1.b", SLOT_LN1_B, 1, NULL, false},              \
        {"ln2.w", SLOT_LN2_W, 1, NULL, false}, {"ln2.b", SLOT_LN2_B, 1, NULL, false},              \
        {"embed.W_E", SLOT_W_E, 1, (network), false},                                              \
        {"pos_embed.W_pos", SLOT_W_POS, 1, NULL, false},                                           \
        {"ln_final.w", SLOT_LN_FINAL_W, 1, NULL, false},                                           \
        {"ln_final.b", SLOT_LN_FINAL_B, 1, NULL, false},                                           \
        {"unembed.W_U", SLOT_W_U, 1, NULL, false},                                                 \
    {                                                                                              \
        "unembed.b_U", SLOT_B_U, 1, NULL, false                                                    \
    }

static const TensorName names[] = {
    LENS_NAMES(NULL, NULL),
    {"attn.W_O", SLOT_W_O, 1, NULL, false},
    /* Heads side by side. */
    {"attn.W_Q", SLOT_W_Q, 1, "1 02", false},
    {"attn.W_K", SLOT_W_K, 1, "1 02", false},
    {"attn.W_V", SLOT_W_V, 1, "1 02", false},
    {"attn.W_O", SLOT_W_O, 1, "01 2", false},
    {"attn.b_Q", SLOT_B_Q, 1, "01", false},
    {"attn.b_K", SLOT_B_K, 1, "01", false},
    {"attn.b_V", SLOT_B_V, 1, "01", false},
    {"attn.QK", SLOT_QK, 1, NULL, false},
    {"attn.OV", SLOT_OV, 1, NULL, false},
    {"linear.W", SLOT_LINEAR_W, 1, NULL, false},
    {"linear.b", SLOT_LINEAR_B, 1, NULL, false},
    {"result.X_hidden", SLOT_X_HIDDEN, 1, NULL, false},
    {.name = NULL},
};
static const TensorName early[] = {
    LENS_NAMES("0 2 1", "1 0"),
    {"attn.W_O", SLOT_W_O, 1, "2 01", false},
    {.name = NULL},
};

static const char *const buffers[] = {"attn.mask", "attn.IGNORE", NULL};

const Family family_lens = {
    .title = "TransformerLens", .layer = "blocks.", .names = names, .buffers = buffers};

const Family family_lens_early = {.title = "TransformerLens, as it was first",
                                  .layer = "blocks.",
                                  .names = early,
                                  .buffers = buffers};
