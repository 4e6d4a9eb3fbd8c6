/*
 * The names of GPT-NeoX (Pythia), GPT-J and Phi: parallel blocks and rotary positions.
 *
 * Their matrices are torch.nn.Linear's: [out, in].  GPT-NeoX has queries, keys and values of a head
 * side by side in one; GPT-J and Phi have one norm a layer, which both parts read through.
 */
#include "family.h"

#define NORM(name, slot) MAP(name, slot, NULL, (slot) + 1, NULL, true)

static const TensorName neox[] = {
    NORM("input_layernorm", SLOT_LN1_W),
    NORM("post_attention_layernorm", SLOT_LN2_W),
    {"attention.query_key_value.weight", SLOT_W_Q, 3, "0p2 1", true},
    {"attention.query_key_value.bias", SLOT_B_Q, 3, "0p1", false},
    MAP("attention.dense", SLOT_W_O, "2 01", SLOT_B_O, NULL, false),
    MAP("mlp.dense_h_to_4h", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, true),
    MAP("mlp.dense_4h_to_h", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, true),
    {"embed_out.weight", SLOT_W_U, 1, "1 0", true},
    {"embed_in.weight", SLOT_W_E, 1, NULL, true},
    NORM("final_layer_norm", SLOT_LN_FINAL_W),
    {.name = NULL}};

static const TensorName gptj[] = {NORM("ln_1", SLOT_LN1_W),
                                  {"attn.q_proj.weight", SLOT_W_Q, 1, "02 1", true},
                                  {"attn.k_proj.weight", SLOT_W_K, 1, "02 1", true},
                                  {"attn.v_proj.weight", SLOT_W_V, 1, "02 1", true},
                                  {"attn.out_proj.weight", SLOT_W_O, 1, "2 01", true},
                                  MAP("mlp.fc_in", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, true),
                                  MAP("mlp.fc_out", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, true),
                                  MAP("lm_head", SLOT_W_U, "1 0", SLOT_B_U, NULL, false),
                                  {"wte.weight", SLOT_W_E, 1, NULL, true},
                                  NORM("ln_f", SLOT_LN_FINAL_W),
                                  {.name = NULL}};

static const TensorName phi[] = {NORM("input_layernorm", SLOT_LN1_W),
                                 MAP("self_attn.q_proj", SLOT_W_Q, "02 1", SLOT_B_Q, "01", true),
                                 MAP("self_attn.k_proj", SLOT_W_K, "k2 1", SLOT_B_K, "k1", true),
                                 MAP("self_attn.v_proj", SLOT_W_V, "k2 1", SLOT_B_V, "k1", true),
                                 MAP("self_attn.dense", SLOT_W_O, "2 01", SLOT_B_O, NULL, true),
                                 MAP("mlp.fc1", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, true),
                                 MAP("mlp.fc2", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, true),
                                 MAP("lm_head", SLOT_W_U, "1 0", SLOT_B_U, NULL, false),
                                 {"embed_tokens.weight", SLOT_W_E, 1, NULL, true},
                                 NORM("final_layernorm", SLOT_LN_FINAL_W),
                                 {.name = NULL}};

/* Masks, what their scores are set to, and angles that follow from the config. */
static const char *const buffers[] = {
    "attention.bias",   "attention.masked_bias", "attention.rotary_emb.inv_freq", "attn.bias",
    "attn.masked_bias", "attn.embed_positions",  "self_attn.rotary_emb.inv_freq", NULL};

#define IMPLIED                                                                                    \
    {"mask", "causal"}, {"normalization", "layernorm"}, {"normalization-place", "pre"},            \
        {"positions", "none"},                                                                     \
    {                                                                                              \
        "scale", "1/sqrt(d_head)"                                                                  \
    }

static FamilyWords neox_words[] = {IMPLIED, {"rotary-pairs", "half"}, {NULL, NULL}};
static FamilyWords gptj_words[] = {IMPLIED,
                                   {"rotary-pairs", "interleaved"},
                                   {"rope-theta", "10000"},
                                   {"blocks", "parallel"},
                                   {NULL, NULL}};
static FamilyWords phi_words[] = {
    IMPLIED, {"rotary-pairs", "half"}, {"blocks", "parallel"}, {NULL, NULL}};
const Family family_neox = {.title = "GPT-NeoX",
                            .layer = "layers.",
                            .names = neox,
                            .buffers = buffers,
                            .splits = true,
                            .types = "gpt_neox",
                            .programs = "GPTNeoXForCausalLM GPTNeoXModel",
                            .partial = "rotary_pct",
                            .implied = neox_words};

const Family family_gptj = {.title = "GPT-J",
                            .layer = "h.",
                            .names = gptj,
                            .buffers = buffers,
                            .splits = true,
                            .one_norm = true,
                            .types = "gptj",
                            .programs = "GPTJForCausalLM GPTJModel",
                            .partial = "rotary_dim",
                            .implied = gptj_words};

const Family family_phi = {.title = "Phi",
                           .layer = "layers.",
                           .names = phi,
                           .buffers = buffers,
                           .splits = true,
                           .one_norm = true,
                           .shares = true,
                           .types = "phi",
                           .programs = "PhiForCausalLM PhiModel",
                           .partial = "partial_rotary_factor",
                           .implied = phi_words};
