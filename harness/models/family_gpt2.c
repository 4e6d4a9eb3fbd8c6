/*
 * The names of Hugging Face's GPT-2, and what its config.json says.
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
    {.name = NULL},
};

/* The causal mask, and what its scores are set to. */
static const char *const buffers[] = {"attn.bias", "attn.masked_bias", NULL};

static const char *const implied[][2] = {{"mask", "causal"},
                                         {"normalization", "layernorm"},
                                         {"normalization-place", "pre"},
                                         {NULL, NULL}};

#define ROTARY "rotary positions turn queries and keys, which no head's Q can"
#define GROUPED "queries that share keys and values are another layout of heads"
#define EXPERTS "a router chooses among experts"
#define CAPPED "capped scores or logits are no softmax of products"

static const ConfigKey config[] = {
    {"model_type", CONFIG_FITS, .fits = "\"gpt2\"",
     .why = "names of GPT-2's tensors are all that is known of another"},
    {"n_embd", CONFIG_EXTENT, .extent = EXTENT_D},
    {"n_head", CONFIG_EXTENT, .extent = EXTENT_HEADS},
    {"n_layer", CONFIG_DEPTH, .why = NULL},
    {"n_positions", CONFIG_EXTENT, .extent = EXTENT_CONTEXT},
    {"n_inner", CONFIG_EXTENT, .extent = EXTENT_HIDDEN},
    {"vocab_size", CONFIG_EXTENT, .extent = EXTENT_VOCABULARY},
    {"vocab_size", CONFIG_EXTENT, .extent = EXTENT_CLASSES},
    {"activation_function", CONFIG_WORD, .property = "activation",
     .words = {"swish", "silu", "gelu_pytorch_tanh", "gelu_new"}},
    {"layer_norm_epsilon", CONFIG_NUMBER, .property = "eps"},
    {"scale_attn_weights", CONFIG_BOOL, .property = "scale", .words = {"1", "1/sqrt(d_head)"},
     .by_type = true},
    {"tie_word_embeddings", CONFIG_BOOL, .property = "tied", .words = {"no", "yes"}},
    {"scale_attn_by_inverse_layer_idx", CONFIG_FITS, .fits = "false",
     .why = "each layer would scale its scores by another factor"},
    {"add_cross_attention", CONFIG_FITS, .fits = "false",
     .why = "attention to another stream is outside the construction"},
    {"is_encoder_decoder", CONFIG_FITS, .fits = "false",
     .why = "attention to another stream is outside the construction"},
    {"position_embedding_type", CONFIG_FITS, .fits = "\"absolute\"",
     .why = "positions must be added to the stream"},
    {"pruned_heads", CONFIG_FITS, .fits = "{}", .why = "layers must have the same heads"},
    {"quantization_config", CONFIG_FITS, .why = "weights must be numbers, not codes of them"},
    {"alibi", CONFIG_FITS, .fits = "false", .why = "a bias of scores by distance is in no head"},
    {"rope_theta", CONFIG_FITS, .why = ROTARY},
    {"rope_scaling", CONFIG_FITS, .why = ROTARY},
    {"rotary_dim", CONFIG_FITS, .why = ROTARY},
    {"rotary_pct", CONFIG_FITS, .why = ROTARY},
    {"multi_query", CONFIG_FITS, .fits = "false", .why = GROUPED},
    {"num_key_value_heads", CONFIG_FITS, .why = GROUPED},
    {"num_experts", CONFIG_FITS, .why = EXPERTS},
    {"num_local_experts", CONFIG_FITS, .why = EXPERTS},
    {"attn_logit_softcapping", CONFIG_FITS, .why = CAPPED},
    {"final_logit_softcapping", CONFIG_FITS, .why = CAPPED},
    {.key = NULL},
};

const Family family_gpt2 = {.title = "Hugging Face's GPT-2",
                            .prefix = "transformer.",
                            .layer = "h.",
                            .names = names,
                            .buffers = buffers,
                            .tied = true,
                            .implied = implied,
                            .config = config};
