/*
 * The families of names.  Matrices of torch.nn.Linear are [out, in]; those of Hugging Face's
 * "Conv1D" and of TransformerLens are [in, out], as the model has them.
 */
#include "family.h"

#include <stddef.h>

/* Rows of a map and its bias, as torch.nn.Linear names them; biased: every file has the bias. */
#define MAP(name, weight, axes, bias, packed, biased)                                              \
    {name ".weight", (weight), 1, (axes), true},                                                   \
    {                                                                                              \
        name ".bias", (bias), 1, (packed), (biased)                                                \
    }

/* Those of a norm; there: every file has both. */
#define NORM(name, slot, there)                                                                    \
    {name ".weight", (slot), 1, NULL, (there)},                                                    \
    {                                                                                              \
        name ".bias", (slot) + 1, 1, NULL, (there)                                                 \
    }

/* What minGPT and its descendants make, in whose files nothing says it. */
static FamilyWords usual[] = {{"mask", "causal"},
                              {"normalization", "layernorm"},
                              {"normalization-place", "pre"},
                              {"eps", "1e-05"},
                              {"scale", "1/sqrt(d_head)"},
                              {"positions", "learned"},
                              {"blocks", "sequential"},
                              {NULL, NULL}};

/* ---- TransformerLens, whose names headproof's own files have too ----------------------------- */

/* Its matrices have an axis of heads; or heads stand side by side.  What Neel Nanda wrote before
 * it, for "Grokking", has the same names and no axis of heads in W_O alone, and all matrices but
 * the unembedding the other way round.  How the matrices lie: those of queries, keys and values,
 * those of the network and the embedding.  What is the same in both. */
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

static const TensorName lens[] = {
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

static const char *const lens_buffers[] = {"attn.mask", "attn.IGNORE", NULL};

/* ---- Hugging Face's GPT-2, and nanoGPT and minGPT as it is now, with the same names ---------- */

/* Hugging Face's matrices are Conv1D's, nanoGPT's torch.nn.Linear's.  The matrix of queries, keys
 * and values, three times as long as it is wide, tells which.  biased: every file has biases; then
 * how the matrices lie: those of queries, keys and values, of the heads' outputs, and of the
 * network. */
#define GPT2_NAMES(biased, qkv, outputs, network)                                                  \
    NORM("ln_1", SLOT_LN1_W, biased), {"attn.c_attn.weight", SLOT_W_Q, 3, (qkv), true},            \
        {"attn.c_attn.bias", SLOT_B_Q, 3, "p01", (biased)},                                        \
        MAP("attn.c_proj", SLOT_W_O, outputs, SLOT_B_O, NULL, biased),                             \
        NORM("ln_2", SLOT_LN2_W, biased),                                                          \
        MAP("mlp.c_fc", SLOT_W_IN, network, SLOT_B_IN, NULL, biased),                              \
        MAP("mlp.c_proj", SLOT_W_OUT, network, SLOT_B_OUT, NULL, biased),                          \
        {"wte.weight", SLOT_W_E, 1, NULL, true}, {"wpe.weight", SLOT_W_POS, 1, NULL, true},        \
        NORM("ln_f", SLOT_LN_FINAL_W, biased), {"lm_head.weight", SLOT_W_U, 1, "1 0", false},      \
    {                                                                                              \
        "lm_head.bias", SLOT_B_U, 1, NULL, false                                                   \
    }

static const TensorName conv1d[] = {GPT2_NAMES(true, "1 p02", "01 2", NULL), {.name = NULL}};
static const TensorName linear[] = {GPT2_NAMES(false, "p02 1", "2 01", "1 0"), {.name = NULL}};

/* The causal mask, and what its scores are set to. */
static const char *const gpt2_buffers[] = {"attn.bias", "attn.masked_bias", NULL};

static FamilyWords gpt2_words[] = {
    {"mask", "causal"},       {"normalization", "layernorm"}, {"normalization-place", "pre"},
    {"positions", "learned"}, {"blocks", "sequential"},       {NULL, NULL}};

/* ---- minGPT as it was first, whose queries, keys and values are maps of their own ------------ */

static const TensorName mingpt[] = {
    NORM("ln1", SLOT_LN1_W, false),
    MAP("attn.query", SLOT_W_Q, "02 1", SLOT_B_Q, "01", false),
    MAP("attn.key", SLOT_W_K, "02 1", SLOT_B_K, "01", false),
    MAP("attn.value", SLOT_W_V, "02 1", SLOT_B_V, "01", false),
    MAP("attn.proj", SLOT_W_O, "2 01", SLOT_B_O, NULL, false),
    NORM("ln2", SLOT_LN2_W, false),
    MAP("mlp.0", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, false),
    MAP("mlp.2", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, false),
    {"tok_emb.weight", SLOT_W_E, 1, NULL, true},
    {"pos_emb", SLOT_W_POS, 1, "u 0 1", true},
    NORM("ln_f", SLOT_LN_FINAL_W, false),
    MAP("head", SLOT_W_U, "1 0", SLOT_B_U, NULL, false),
    {.name = NULL},
};

static const char *const mingpt_buffers[] = {"attn.mask", NULL};

/* ---- GPT-NeoX (Pythia), GPT-J and Phi: parallel blocks and rotary positions ------------------ */

/* GPT-NeoX has queries, keys and values of a head side by side in one; GPT-J and Phi have one norm
 * a layer, which both parts read through. */
static const TensorName neox[] = {
    NORM("input_layernorm", SLOT_LN1_W, true),
    NORM("post_attention_layernorm", SLOT_LN2_W, true),
    {"attention.query_key_value.weight", SLOT_W_Q, 3, "0p2 1", true},
    {"attention.query_key_value.bias", SLOT_B_Q, 3, "0p1", false},
    MAP("attention.dense", SLOT_W_O, "2 01", SLOT_B_O, NULL, false),
    MAP("mlp.dense_h_to_4h", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, true),
    MAP("mlp.dense_4h_to_h", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, true),
    {"embed_out.weight", SLOT_W_U, 1, "1 0", true},
    {"embed_in.weight", SLOT_W_E, 1, NULL, true},
    NORM("final_layer_norm", SLOT_LN_FINAL_W, true),
    {.name = NULL}};

static const TensorName gptj[] = {NORM("ln_1", SLOT_LN1_W, true),
                                  {"attn.q_proj.weight", SLOT_W_Q, 1, "02 1", true},
                                  {"attn.k_proj.weight", SLOT_W_K, 1, "02 1", true},
                                  {"attn.v_proj.weight", SLOT_W_V, 1, "02 1", true},
                                  {"attn.out_proj.weight", SLOT_W_O, 1, "2 01", true},
                                  MAP("mlp.fc_in", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, true),
                                  MAP("mlp.fc_out", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, true),
                                  MAP("lm_head", SLOT_W_U, "1 0", SLOT_B_U, NULL, false),
                                  {"wte.weight", SLOT_W_E, 1, NULL, true},
                                  NORM("ln_f", SLOT_LN_FINAL_W, true),
                                  {.name = NULL}};

static const TensorName phi[] = {NORM("input_layernorm", SLOT_LN1_W, true),
                                 MAP("self_attn.q_proj", SLOT_W_Q, "02 1", SLOT_B_Q, "01", true),
                                 MAP("self_attn.k_proj", SLOT_W_K, "k2 1", SLOT_B_K, "k1", true),
                                 MAP("self_attn.v_proj", SLOT_W_V, "k2 1", SLOT_B_V, "k1", true),
                                 MAP("self_attn.dense", SLOT_W_O, "2 01", SLOT_B_O, NULL, true),
                                 MAP("mlp.fc1", SLOT_W_IN, "1 0", SLOT_B_IN, NULL, true),
                                 MAP("mlp.fc2", SLOT_W_OUT, "1 0", SLOT_B_OUT, NULL, true),
                                 MAP("lm_head", SLOT_W_U, "1 0", SLOT_B_U, NULL, false),
                                 {"embed_tokens.weight", SLOT_W_E, 1, NULL, true},
                                 NORM("final_layernorm", SLOT_LN_FINAL_W, true),
                                 {.name = NULL}};

/* Masks, what their scores are set to, and angles that follow from the config. */
static const char *const neox_buffers[] = {
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
                                   {"rope-type", "default"},
                                   {"blocks", "parallel"},
                                   {NULL, NULL}};
static FamilyWords phi_words[] = {
    IMPLIED, {"rotary-pairs", "half"}, {"blocks", "parallel"}, {NULL, NULL}};

/* ---- Llama, and Mistral, Qwen2 and Gemma with the same names: model_type tells which --------- */

/* They have rotary positions, RMSNorm, gated networks, and heads of keys and values that several
 * queries share.  biased: queries, keys and values have biases in every file. */
#define LLAMA_NAMES(biased)                                                                        \
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

static const TensorName plain[] = {LLAMA_NAMES(false), {.name = NULL}};
static const TensorName biased[] = {LLAMA_NAMES(true), {.name = NULL}};

/* Angles, which follow from the config. */
static const char *const llama_buffers[] = {"self_attn.rotary_emb.inv_freq", NULL};

static FamilyWords llama_words[] = {{"mask", "causal"},
                                    {"normalization", "rmsnorm"},
                                    {"normalization-place", "pre"},
                                    {"positions", "none"},
                                    {"scale", "1/sqrt(d_head)"},
                                    {"rotary-pairs", "half"},
                                    {"blocks", "sequential"},
                                    {NULL, NULL}};

/* ---- All of them ----------------------------------------------------------------------------- */

#define PROGRAMS(type, program) .types = (type), .programs = program "ForCausalLM " program "Model"
#define NEOX(type, program, key, words)                                                            \
    PROGRAMS(type, program), .splits = true, .partial = (key), .implied = words
#define LLAMA(type, program)                                                                       \
    PROGRAMS(type, program), .by_type = true, .shares = true, .windowed = true, .theta = 10000,    \
                             .implied = llama_words

const Family families[FAMILY_COUNT] = {
    {.title = "TransformerLens", .layer = "blocks.", .names = lens, .buffers = lens_buffers},
    {.title = "TransformerLens, as it was first",
     .layer = "blocks.",
     .names = early,
     .buffers = lens_buffers},
    {"Hugging Face's GPT-2", "h.", conv1d, gpt2_buffers, .tied = true, .splits = true,
     .implied = gpt2_words},
    {"nanoGPT", "h.", linear, gpt2_buffers, .tied = true, .splits = true, .usual = usual},
    {"minGPT", "blocks.", mingpt, mingpt_buffers, .splits = true, .usual = usual},
    {"GPT-NeoX", "layers.", neox, neox_buffers,
     NEOX("gpt_neox", "GPTNeoX", "rotary_pct", neox_words)},
    {"GPT-J", "h.", gptj, neox_buffers, NEOX("gptj", "GPTJ", "rotary_dim", gptj_words),
     .one_norm = true},
    {"Phi", "layers.", phi, neox_buffers, NEOX("phi", "Phi", "partial_rotary_factor", phi_words),
     .one_norm = true, .shares = true},
    {"Llama", "layers.", plain, llama_buffers, LLAMA("llama", "LLaMAForCausalLM Llama"),
     .splits = true},
    {"Mistral", "layers.", plain, llama_buffers, LLAMA("mistral", "Mistral"), .splits = true},
    {"Qwen2", "layers.", biased, llama_buffers, LLAMA("qwen2", "Qwen2"), .splits = true},
    {"Gemma", "layers.", plain, llama_buffers, LLAMA("gemma", "Gemma"), .tied = true,
     .from_one = true, .scaled = true, .doubted = "gelu"},
};
