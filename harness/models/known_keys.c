/*
 * The keys of config.json and of metadata, as Hugging Face's GPT-2, TransformerLens, nanoGPT and
 * headproof itself write them.
 */
#include "keys.h"

#include <string.h>

#define ROTARY "rotary positions of another kind"
#define SCALINGS "default linear llama3"
#define BIASED "scores have a bias by distance, which is in no head"
#define GROUPED "several queries share a key and a value, another layout of heads"
#define EXPERTS "a router chooses among experts"
#define CAPPED "capped scores or logits are no softmax of products"
#define LOCAL "some layers see a window of the keys alone"
#define GATED "a gated network multiplies two values, which no head does"
#define OTHER_STREAM "attention to another stream is outside the construction"
#define SPECIAL "rows of special tokens, in a library of old, are no part of vocab_size"
#define QUANTISED "weights must be numbers, not codes of them"
#define NORMED "norms elsewhere than before or behind a sublayer are in no construction"

/* Names in Hugging Face's table of activations, and what they are. */
#define ACT2FN                                                                                     \
    "swish", "silu", "gelu_pytorch_tanh", "gelu_new", "gelu_accurate", "gelu_new", "gelu_python",  \
        "gelu"

#define SIZE(name, which)                                                                          \
    {                                                                                              \
        .key = (name), .kind = KEY_EXTENT, .extent = (which)                                       \
    }
#define SAYS(name, what, ...)                                                                      \
    {                                                                                              \
        .key = (name), .kind = KEY_WORD, .property = (what), .words = { __VA_ARGS__ }              \
    }
#define NUMBER(name, what)                                                                         \
    {                                                                                              \
        .key = (name), .kind = KEY_NUMBER, .property = (what)                                      \
    }
#define SWITCH(name, what, no, yes)                                                                \
    {                                                                                              \
        .key = (name), .kind = KEY_BOOL, .property = (what), .words = {(no), (yes) }               \
    }
#define NONE(name, reason)                                                                         \
    {                                                                                              \
        .key = (name), .kind = KEY_FITS, .why = (reason)                                           \
    }
#define FALSE(name, reason)                                                                        \
    {                                                                                              \
        .key = (name), .kind = KEY_FITS, .fits = "false", .why = (reason)                          \
    }
#define DEPTH(name)                                                                                \
    {                                                                                              \
        .key = (name), .kind = KEY_DEPTH                                                           \
    }

const KnownKey known_keys[] = {
    /* Keys of models that no construction covers, before those that need another size or word. */
    FALSE("alibi", BIASED),
    FALSE("use_alibi", BIASED),
    NONE("relative_attention_num_buckets", BIASED),
    NONE("relative_attention_max_distance", BIASED),
    NONE("num_local_experts", EXPERTS),
    NONE("num_experts", EXPERTS),
    NONE("n_routed_experts", EXPERTS),
    NONE("n_experts", EXPERTS),
    NONE("experts_per_token", EXPERTS),
    FALSE("multi_query", GROUPED),
    NONE("attention_types", LOCAL),
    NONE("attn_types", LOCAL),
    NONE("window_size", LOCAL),
    NONE("sliding_window_pattern", LOCAL),
    FALSE("use_local_attn", LOCAL),
    FALSE("gated_mlp", GATED),
    NONE("attn_logit_softcapping", CAPPED),
    NONE("final_logit_softcapping", CAPPED),
    {"attn_scores_soft_cap", KEY_FITS, .fits = "-1.0", .why = CAPPED},
    {"output_logits_soft_cap", KEY_FITS, .fits = "-1.0", .why = CAPPED},
    FALSE("final_rms", "a last norm of another kind"),
    FALSE("use_normalization_before_and_after", NORMED),
    FALSE("use_qk_norm", NORMED),
    FALSE("qk_layernorm", NORMED),
    FALSE("post_embedding_ln", NORMED),
    FALSE("add_cross_attention", OTHER_STREAM),
    FALSE("is_encoder_decoder", OTHER_STREAM),
    {"pruned_heads", KEY_FITS, .fits = "{}", .why = "layers must have the same heads"},
    NONE("quantization_config", QUANTISED),
    NONE("compression_config", QUANTISED),
    FALSE("load_in_4bit", QUANTISED),
    FALSE("load_in_8bit", QUANTISED),
    NONE("auto_map", "the model is a program of its own, beside the file"),
    NONE("per_layer_config", "layers would differ from each other"),
    {"layer_types", KEY_NAMES, .fits = "full_attention sliding_attention", .why = LOCAL},
    FALSE("use_bidirectional_attention", "tokens see those that follow, too"),
    FALSE("rope_interleaved", ROTARY),
    FALSE("use_mrope", ROTARY),
    NONE("quantization", QUANTISED),
    NONE("mlp_layer_types", EXPERTS),
    NONE("cross_attention_hidden_size", OTHER_STREAM),
    {"attention_head_type", KEY_FITS, .fits = "\"multihead\"", .why = GROUPED},
    {"normalize_attention_scores", KEY_FITS, .fits = "true", .why = "scores are scaled elsewhere"},
    {"n_special", KEY_FITS, .fits = "0", .why = SPECIAL},
    {"predict_special_tokens", KEY_FITS, .fits = "true", .why = SPECIAL},
    {"afn", KEY_FITS, .fits = "\"gelu\"", .why = "activation_function is what GPT-2 reads"},
    FALSE("use_yarn_rope", ROTARY),
    FALSE("norm_topk_prob", EXPERTS),
    FALSE("layer_norm_folding", "normalization_type says LNPre or RMSPre of folded norms"),
    FALSE("uses_rms_norm", "normalization_type says which norm it is"),
    NONE("headproof.norm_columns", "norms of a rewritten model are over some columns alone"),
    NONE("headproof.norm_rows", "norms of a rewritten model are over some rows alone"),
    NONE("headproof.turned", "rotary positions of a rewritten model turn some sublayers alone"),
    {"model_type", KEY_NAMES,
     .fits = "gpt2 gpt2-medium gpt2-large gpt2-xl gpt-mini gpt-micro gpt-nano nanogpt",
     .why = "what another kind of model computes is not known"},
    {"architectures", KEY_NAMES, .fits = "GPT2LMHeadModel GPT2Model GPT NanoGPT HookedTransformer",
     .why = "the program of another may compute something else"},
    /* Sizes, which the tensors must have. */
    SIZE("n_embd", EXTENT_D),
    SIZE("hidden_size", EXTENT_D),
    SIZE("d_model", EXTENT_D),
    SIZE("n_head", EXTENT_HEADS),
    SIZE("n_heads", EXTENT_HEADS),
    SIZE("heads", EXTENT_HEADS),
    SIZE("num_attention_heads", EXTENT_HEADS),
    SIZE("num_key_value_heads", EXTENT_KEY_HEADS),
    SIZE("n_key_value_heads", EXTENT_KEY_HEADS),
    SIZE("d_head", EXTENT_D_HEAD),
    SIZE("head_dim", EXTENT_D_HEAD),
    SIZE("n_positions", EXTENT_CONTEXT),
    SIZE("block_size", EXTENT_CONTEXT),
    SIZE("max_position_embeddings", EXTENT_CONTEXT),
    {"n_ctx", KEY_EXTENT, .extent = EXTENT_CONTEXT, .yields = "n_positions"},
    {"sliding_window", KEY_EXTENT, .extent = EXTENT_WINDOW, .yields = "use_sliding_window"},
    SIZE("n_inner", EXTENT_HIDDEN),
    SIZE("d_mlp", EXTENT_HIDDEN),
    SIZE("intermediate_size", EXTENT_HIDDEN),
    SIZE("vocab_size", EXTENT_VOCABULARY),
    SIZE("n_vocab", EXTENT_VOCABULARY),
    SIZE("vocab_size", EXTENT_CLASSES),
    SIZE("d_vocab", EXTENT_VOCABULARY),
    SIZE("d_vocab_out", EXTENT_CLASSES),
    DEPTH("n_layer"),
    DEPTH("n_layers"),
    DEPTH("num_hidden_layers"),
    /* Properties, as headproof's own files call them and as others do. */
    SAYS("activation", "activation", NULL),
    SAYS("activation_function", "activation", ACT2FN),
    SAYS("hidden_act", "activation", ACT2FN),
    SAYS("hidden_activation", "activation", ACT2FN),
    SAYS("act_fn", "activation", ACT2FN),
    SAYS("scale", "scale", NULL),
    {"scale_attn_weights", KEY_BOOL, .property = "scale", .words = {"1", "1/sqrt(d_head)"},
     .by_type = true},
    SWITCH("scale_attn_by_inverse_layer_idx", "scale-by-layer", "no", "yes"),
    SWITCH("use_attn_scale", "scale", "1", "1/sqrt(d_head)"),
    NUMBER("attn_scale", "attn_scale"),
    SAYS("mask", "mask", NULL),
    SAYS("attention_dir", "mask", "bidirectional", "none"),
    SWITCH("is_causal", "mask", "none", "causal"),
    SAYS("normalization", "normalization", NULL),
    {"normalization_type", KEY_WORD, .property = "normalization", .null = "none"},
    SAYS("normalization-place", "normalization-place", NULL),
    NUMBER("eps", "eps"),
    NUMBER("layer_norm_epsilon", "eps"),
    NUMBER("layer_norm_eps", "eps"),
    NUMBER("rms_norm_eps", "eps"),
    SAYS("linear", "linear", NULL),
    SAYS("positions", "positions", NULL),
    SAYS("positional_embedding_type", "positions", "standard", "learned"),
    SAYS("position_embedding_type", "positions", "absolute", "learned"),
    SAYS("rotary-pairs", "rotary-pairs", NULL),
    SWITCH("rotary", "rotary", "no", "yes"),
    NUMBER("rope-theta", "rope-theta"),
    NUMBER("rope_theta", "rope-theta"),
    NUMBER("rotary_emb_base", "rope-theta"),
    NUMBER("rotary-dim", "rotary-dim"),
    {"rotary_dim", KEY_NUMBER, .property = "rotary-dim", .fits = "0"},
    NUMBER("rotary_pct", "rotary-part"),
    NUMBER("partial_rotary_factor", "rotary-part"),
    {.key = "rope_scaling", .kind = KEY_OBJECT},
    {.key = "rope_parameters", .kind = KEY_OBJECT},
    SAYS("blocks", "blocks", NULL),
    SWITCH("parallel_attn_mlp", "blocks", "sequential", "parallel"),
    SWITCH("use_parallel_residual", "blocks", "sequential", "parallel"),
    SWITCH("tie_word_embeddings", "tied", "no", "yes"),
    SWITCH("outbedding_weight_tying", "tied", "no", "yes"),
    SWITCH("attn_only", "attn_only", "no", "yes"),
    SWITCH("bias", "biases", "false", "true"),
    SWITCH("attention_bias", "biases of attention", "false", "true"),
    SWITCH("mlp_bias", "biases of networks", "false", "true"),
    {.key = NULL},
};

const KnownKey rope_keys[] = {
    {"rope_type", KEY_NAMES, .fits = SCALINGS, .why = ROTARY},
    {"type", KEY_NAMES, .fits = SCALINGS, .why = ROTARY},
    NUMBER("rope_theta", "rope-theta"),
    NUMBER("partial_rotary_factor", "rotary-part"),
    SAYS("rope_type", "rope-type", NULL),
    SAYS("type", "rope-type", NULL),
    NUMBER("factor", "rope-factor"),
    NUMBER("low_freq_factor", "rope-low"),
    NUMBER("high_freq_factor", "rope-high"),
    NUMBER("original_max_position_embeddings", "rope-length"),
    {.key = NULL},
};

const char *const idle_keys[] = {
    /* The meaning of rows and columns, and the words of a rewrite, all of which the tensors show.
     * */
    "headproof.layout", "headproof.form", "headproof.omega", "headproof.evaluate",
    "headproof.augment", "headproof.exact", "headproof.inexact", "headproof.rows",
    "headproof.bias_row", "headproof.bias_token", "headproof.content", "headproof.layer_end",
    "headproof.guarantee", "headproof.guarantee_tolerance", "headproof.guarantee_tokens",
    "headproof.guarantee_input_norm", "headproof.conditions", "headproof.rotary",
    "headproof.beside", "headproof.tau", "headproof.readout",
    /* Of a file of `headproof export`, as result.*: what its results are. */
    "command", "construction", "omega", "precision_bits", "version",
    /* A file's name, kind and origin. */
    "format", "total_size", "total_parameters", "task", "all_accuracy", "accuracy", "title", "name",
    "description", "comment", "author", "license", "source", "url", "date", "language", "tags",
    "base_model", "library_name", "evaluated", "step", "epoch", "loss", "_name_or_path",
    "transformers_version", "torch_dtype", "dtype", "torchscript", "tf_legacy_loss", "use_bfloat16",
    "model_name", "original_architecture", "from_checkpoint", "checkpoint_index",
    "checkpoint_label_type", "checkpoint_value", "n_params", "device", "n_devices",
    "trust_remote_code", "name_or_path", "_commit_hash", "created_date", "custom_pipelines",
    "line_by_line", "is_composition", "vocab_file", "merges_file",
    /* Training, which is over. */
    "attn_pdrop", "embd_pdrop", "resid_pdrop", "attention_dropout", "hidden_dropout", "dropout",
    "summary_last_dropout", "classifier_dropout", "initializer_range", "init_mode", "init_weights",
    "seed", "gradient_checkpointing", "attention_probs_dropout_prob", "hidden_dropout_prob",
    /* Which layers see a window, where some do, and what a config calls itself. */
    "use_sliding_window", "max_window_layers", "is_llama_config", "unsloth_fixed",
    "unsloth_version", "max_sequence_length",
    /* How another program holds its numbers, and which of them it returns. */
    "pretraining_tp", "_flash_attn_2_enabled", "use_flash_attention_2", "reorder_and_upcast_attn",
    "use_cache", "return_dict", "output_attentions", "output_hidden_states", "output_past",
    "output_scores", "return_dict_in_generate", "chunk_size_feed_forward", "rotary_base",
    "rotary_adjacent_pairs", "use_NTK_by_parts_rope", "NTK_by_parts_low_freq_factor",
    "NTK_by_parts_high_freq_factor", "NTK_by_parts_factor", "NTK_original_ctx_len",
    "use_attn_result", "use_split_qkv_input", "use_hook_mlp_in", "use_hook_tokens", "use_attn_in",
    "ungroup_grouped_query_attention", "_attn_implementation", "_attn_implementation_autoset",
    "attn_implementation", "_attn_implementation_internal", "apply_query_key_layer_scaling",
    "use_return_dict", "xla_device", "rotary_base_local", "rotary_scaling_factor",
    "yarn_attention_factor", "yarn_beta_fast", "yarn_beta_slow", "yarn_factor",
    "yarn_original_max_position_embeddings",
    /* Tokens and their names. */
    "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "unk_token_id", "cls_token_id",
    "mask_token_id", "decoder_start_token_id", "add_special_tokens", "_num_labels",
    "tokenizer_class", "tokenizer_name", "tokenizer_prepends_bos", "default_prepend_bos", "prefix",
    "id2label", "label2id", "num_labels", "finetuning_task", "problem_type", "task_specific_params",
    "is_decoder", "tie_encoder_decoder", "summary_activation", "summary_first_dropout",
    "summary_proj_to_labels", "summary_type", "summary_use_proj",
    /* How texts are drawn from the logits. */
    "do_sample", "temperature", "top_k", "top_p", "typical_p", "num_beams", "num_beam_groups",
    "num_return_sequences", "diversity_penalty", "length_penalty", "repetition_penalty",
    "exponential_decay_length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size",
    "bad_words_ids", "suppress_tokens", "begin_suppress_tokens", "forced_bos_token_id",
    "forced_eos_token_id", "remove_invalid_values", "early_stopping", "max_length", "min_length",
    "max_new_tokens", "min_new_tokens", "max_time", "stop_strings", "penalty_alpha", "dola_layers",
    "cache_implementation", "cache_config", "min_p", "top_h", "epsilon_cutoff", "eta_cutoff",
    "encoder_repetition_penalty", "force_words_ids", "renormalize_logits", "constraints",
    "forced_decoder_ids", "sequence_bias", "token_healing", "guidance_scale", "low_memory",
    "watermarking_config", "output_logits", "generation_kwargs", "_from_model_config",
    "num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold",
    "prompt_lookup_num_tokens", "max_matching_ngram_size", "is_assistant", "assistant_early_exit",
    "assistant_lookbehind", "target_lookbehind", "prefill_chunk_size", "compile_config",
    "disable_compile", NULL};

bool key_is_known(const KnownKey *table, const char *key)
{
    static const char *const none[] = {NULL};
    const KnownKey *row = table;
    const char *const *idle = table == known_keys ? idle_keys : none;
    while (row->key != NULL && strcmp(row->key, key) != 0) {
        row++;
    }
    while (*idle != NULL && strcmp(*idle, key) != 0) {
        idle++;
    }
    return row->key != NULL || *idle != NULL || strncmp(key, "result.", strlen("result.")) == 0;
}
