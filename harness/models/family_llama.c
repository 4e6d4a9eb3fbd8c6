/*
 * The names of Llama, which Mistral, Qwen2 and Gemma have too: rotary positions, RMSNorm, gated
 * networks, and heads of keys and values that several queries share.
 *
 * Their matrices are torch.nn.Linear's: [out, in].  model_type tells which of them a file is.
 */
#include "family.h"

/* biased: queries, keys and values have biases in every file. */
#define NAMES(biased)                                                                              \
    {"input_layernorm.weight", SLOT_LN1_W, 1, NULL, true},                                         \
        {"post_attention_layernorm.weight", SLOT_LN2_W, 1, NULL, true},                            \
        MAP("self_attn.q_proj", SLOT_W_Q, "02 1", SLOT_B_Q, "01", biased),                         \
        MAP("self_attn.k_proj", SLOT_W_K, "k2 1", SLOT_B_K, "k1", biased),                         \
        MAP("self_attn.v_proj", SLOT_W_V, "k2 1", SLOT_B_V, "k1", biased),                         \
        MAP("self_attn.o_proj", SLOT_W_O, "2 01", SLOT_B_O, NULL, false),                          \
        MAP("mlp.gate_proj", SLOT_W_GATE, "1 0", SLOT_B_GATE, NULL, false),                        \
        MAP("mlp.up_proj", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, false),                              \
        MAP("mlp.down_proj", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, false),                          \
        {"embed_tokens.weight", SLOT_W_E, 1, NULL, true},                                          \
        {"norm.weight", SLOT_LN_FINAL_W, 1, NULL, true},                                           \
    {                                                                                              \
        "lm_head.weight", SLOT_W_U, 1, "1 0", false                                                \
    }

static const TensorName plain[] = {NAMES(false), {.name = NULL}};
static const TensorName biased[] = {NAMES(true), {.name = NULL}};

/* Angles, which follow from the config. */
static const char *const buffers[] = {"self_attn.rotary_emb.inv_freq", NULL};

static FamilyWords words[] = {{"mask", "causal"},
                              {"normalization", "rmsnorm"},
                              {"normalization-place", "pre"},
                              {"positions", "none"},
                              {"scale", "1/sqrt(d_head)"},
                              {"rotary-pairs", "half"},
                              {"blocks", "sequential"},
                              {NULL, NULL}};
#define FAMILY(called, table, type, program)                                                       \
    .title = (called), .layer = "layers.", .names = (table), .buffers = buffers, .types = (type),  \
    .programs = program "ForCausalLM " program "Model", .by_type = true, .shares = true,           \
    .windowed = true, .theta = 10000, .implied = words

const Family family_llama = {FAMILY("Llama", plain, "llama", "LLaMAForCausalLM Llama"),
                             .splits = true};
const Family family_mistral = {FAMILY("Mistral", plain, "mistral", "Mistral"), .splits = true};
const Family family_qwen2 = {FAMILY("Qwen2", biased, "qwen2", "Qwen2"), .splits = true};
const Family family_gemma = {FAMILY("Gemma", plain, "gemma", "Gemma"), .tied = true,
                             .from_one = true, .scaled = true};
