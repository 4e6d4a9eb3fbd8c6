/*
 * The keys of config.json and of metadata, as Hugging Face's GPT-2, TransformerLens, nanoGPT and
 * headproof itself write them.
 */
#include "keys.h"

#include <stddef.h>

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

/* What rows hold behind their key. */
#define SIZE(which) KEY_EXTENT, .extent = (which)
#define DEPTH KEY_DEPTH, .extent = EXTENT_NONE
#define SAYS(what) KEY_WORD, .property = (what)
#define NUMBER(what) KEY_NUMBER, .property = (what)
#define SWITCH(what) KEY_BOOL, .property = (what)
#define NONE(reason) KEY_FITS, .why = (reason)
#define FALSE(reason) KEY_FITS, .fits = "false", .why = (reason)

const KnownKey known_keys[] = {
    /* Keys of models that no construction covers, before those that need another size or word. */
    {"alibi", FALSE(BIASED)},
    {"use_alibi", FALSE(BIASED)},
    {"relative_attention_num_buckets", NONE(BIASED)},
    {"relative_attention_max_distance", NONE(BIASED)},
    {"num_local_experts", NONE(EXPERTS)},
    {"num_experts", NONE(EXPERTS)},
    {"n_routed_experts", NONE(EXPERTS)},
    {"n_experts", NONE(EXPERTS)},
    {"experts_per_token", NONE(EXPERTS)},
    {"multi_query", FALSE(GROUPED)},
    {"attention_types", NONE(LOCAL)},
    {"attn_types", NONE(LOCAL)},
    {"window_size", NONE(LOCAL)},
    {"sliding_window_pattern", NONE(LOCAL)},
    {"use_local_attn", FALSE(LOCAL)},
    {"gated_mlp", FALSE(GATED)},
    {"attn_logit_softcapping", NONE(CAPPED)},
    {"final_logit_softcapping", NONE(CAPPED)},
    {"attn_scores_soft_cap", KEY_FITS, .fits = "-1.0", .why = CAPPED},
    {"output_logits_soft_cap", KEY_FITS, .fits = "-1.0", .why = CAPPED},
    {"final_rms", FALSE("a last norm of another kind")},
    {"use_normalization_before_and_after", FALSE(NORMED)},
    {"use_qk_norm", FALSE(NORMED)},
    {"qk_layernorm", FALSE(NORMED)},
    {"post_embedding_ln", FALSE(NORMED)},
    {"add_cross_attention", FALSE(OTHER_STREAM)},
    {"is_encoder_decoder", FALSE(OTHER_STREAM)},
    {"pruned_heads", KEY_FITS, .fits = "{}", .why = "layers must have the same heads"},
    {"quantization_config", NONE(QUANTISED)},
    {"compression_config", NONE(QUANTISED)},
    {"load_in_4bit", FALSE(QUANTISED)},
    {"load_in_8bit", FALSE(QUANTISED)},
    {"auto_map", NONE("the model is a program of its own, beside the file")},
    {"per_layer_config", NONE("layers would differ from each other")},
    {"layer_types", KEY_NAMES, .fits = "full_attention sliding_attention", .why = LOCAL},
    {"use_bidirectional_attention", FALSE("tokens see those that follow, too")},
    {"rope_interleaved", FALSE(ROTARY)},
    {"use_mrope", FALSE(ROTARY)},
    {"quantization", NONE(QUANTISED)},
    {"mlp_layer_types", NONE(EXPERTS)},
    {"cross_attention_hidden_size", NONE(OTHER_STREAM)},
    {"attention_head_type", KEY_FITS, .fits = "\"multihead\"", .why = GROUPED},
    {"normalize_attention_scores", KEY_FITS, .fits = "true", .why = "scores are scaled elsewhere"},
    {"n_special", KEY_FITS, .fits = "0", .why = SPECIAL},
    {"predict_special_tokens", KEY_FITS, .fits = "true", .why = SPECIAL},
    {"afn", KEY_FITS, .fits = "\"gelu\"", .why = "activation_function is what GPT-2 reads"},
    {"use_yarn_rope", FALSE(ROTARY)},
    {"norm_topk_prob", FALSE(EXPERTS)},
    {"layer_norm_folding", FALSE("normalization_type says LNPre or RMSPre of folded norms")},
    {"uses_rms_norm", FALSE("normalization_type says which norm it is")},
    {"headproof.norm_columns", NONE("norms of a rewritten model are over some columns alone")},
    {"headproof.norm_rows", NONE("norms of a rewritten model are over some rows alone")},
    {"headproof.turned", NONE("rotary positions of a rewritten model turn some sublayers alone")},
    {"model_type", KEY_NAMES,
     .fits = "gpt2 gpt2-medium gpt2-large gpt2-xl gpt-mini gpt-micro gpt-nano nanogpt",
     .why = "what another kind of model computes is not known"},
    {"architectures", KEY_NAMES, .fits = "GPT2LMHeadModel GPT2Model GPT NanoGPT HookedTransformer",
     .why = "the program of another may compute something else"},
    /* Sizes, which the tensors must have. */
    {"n_embd", SIZE(EXTENT_D)},
    {"hidden_size", SIZE(EXTENT_D)},
    {"d_model", SIZE(EXTENT_D)},
    {"n_head", SIZE(EXTENT_HEADS)},
    {"n_heads", SIZE(EXTENT_HEADS)},
    {"heads", SIZE(EXTENT_HEADS)},
    {"num_attention_heads", SIZE(EXTENT_HEADS)},
    {"num_key_value_heads", SIZE(EXTENT_KEY_HEADS)},
    {"n_key_value_heads", SIZE(EXTENT_KEY_HEADS)},
    {"d_head", SIZE(EXTENT_D_HEAD)},
    {"head_dim", SIZE(EXTENT_D_HEAD)},
    {"n_positions", SIZE(EXTENT_CONTEXT)},
    {"block_size", SIZE(EXTENT_CONTEXT)},
    {"max_position_embeddings", SIZE(EXTENT_CONTEXT)},
    {"n_ctx", KEY_EXTENT, .extent = EXTENT_CONTEXT, .yields = "n_positions"},
    {"sliding_window", KEY_EXTENT, .extent = EXTENT_WINDOW, .yields = "use_sliding_window"},
    {"n_inner", SIZE(EXTENT_HIDDEN)},
    {"d_mlp", SIZE(EXTENT_HIDDEN)},
    {"intermediate_size", SIZE(EXTENT_HIDDEN)},
    {"vocab_size", SIZE(EXTENT_VOCABULARY)},
    {"n_vocab", SIZE(EXTENT_VOCABULARY)},
    {"vocab_size", SIZE(EXTENT_CLASSES)},
    {"d_vocab", SIZE(EXTENT_VOCABULARY)},
    {"d_vocab_out", SIZE(EXTENT_CLASSES)},
    {"n_layer", DEPTH},
    {"n_layers", DEPTH},
    {"num_hidden_layers", DEPTH},
    /* Properties, as headproof's own files call them and as others do. */
    {"activation", SAYS("activation")},
    {"activation_function", SAYS("activation"), .words = {ACT2FN}},
    {"hidden_act", SAYS("activation"), .words = {ACT2FN}},
    {"hidden_activation", SAYS("activation"), .words = {ACT2FN}},
    {"act_fn", SAYS("activation"), .words = {ACT2FN}},
    {"scale", SAYS("scale")},
    {"scale_attn_weights", KEY_BOOL, .property = "scale", .words = {"1", "1/sqrt(d_head)"},
     .by_type = true},
    {"scale_attn_by_inverse_layer_idx", SWITCH("scale-by-layer"), .words = {"no", "yes"}},
    {"use_attn_scale", SWITCH("scale"), .words = {"1", "1/sqrt(d_head)"}},
    {"attn_scale", NUMBER("attn_scale")},
    {"mask", SAYS("mask")},
    {"attention_dir", SAYS("mask"), .words = {"bidirectional", "none"}},
    {"is_causal", SWITCH("mask"), .words = {"none", "causal"}},
    {"normalization", SAYS("normalization")},
    {"normalization_type", KEY_WORD, .property = "normalization", .null = "none"},
    {"normalization-place", SAYS("normalization-place")},
    {"eps", NUMBER("eps")},
    {"layer_norm_epsilon", NUMBER("eps")},
    {"layer_norm_eps", NUMBER("eps")},
    {"rms_norm_eps", NUMBER("eps")},
    {"linear", SAYS("linear")},
    {"positions", SAYS("positions")},
    {"positional_embedding_type", SAYS("positions"), .words = {"standard", "learned"}},
    {"position_embedding_type", SAYS("positions"), .words = {"absolute", "learned"}},
    {"rotary-pairs", SAYS("rotary-pairs")},
    {"rotary", SWITCH("rotary"), .words = {"no", "yes"}},
    {"rope-theta", NUMBER("rope-theta")},
    {"rope_theta", NUMBER("rope-theta")},
    {"rotary_emb_base", NUMBER("rope-theta")},
    {"rotary-dim", NUMBER("rotary-dim")},
    {"rotary_dim", KEY_NUMBER, .property = "rotary-dim", .fits = "0"},
    {"rotary_pct", NUMBER("rotary-part")},
    {"partial_rotary_factor", NUMBER("rotary-part")},
    {.key = "rope_scaling", .kind = KEY_OBJECT},
    {.key = "rope_parameters", .kind = KEY_OBJECT},
    {"blocks", SAYS("blocks")},
    {"parallel_attn_mlp", SWITCH("blocks"), .words = {"sequential", "parallel"}},
    {"use_parallel_residual", SWITCH("blocks"), .words = {"sequential", "parallel"}},
    {"tie_word_embeddings", SWITCH("tied"), .words = {"no", "yes"}},
    {"outbedding_weight_tying", SWITCH("tied"), .words = {"no", "yes"}},
    {"attn_only", SWITCH("attn_only"), .words = {"no", "yes"}},
    {"bias", SWITCH("biases"), .words = {"false", "true"}},
    {"attention_bias", SWITCH("biases of attention"), .words = {"false", "true"}},
    {"mlp_bias", SWITCH("biases of networks"), .words = {"false", "true"}},
    {.key = NULL},
};

const KnownKey rope_keys[] = {
    {"rope_type", KEY_NAMES, .fits = SCALINGS, .why = ROTARY},
    {"type", KEY_NAMES, .fits = SCALINGS, .why = ROTARY},
    {"rope_theta", NUMBER("rope-theta")},
    {"partial_rotary_factor", NUMBER("rotary-part")},
    {"rope_type", SAYS("rope-type")},
    {"type", SAYS("rope-type")},
    {"factor", NUMBER("rope-factor")},
    {"low_freq_factor", NUMBER("rope-low")},
    {"high_freq_factor", NUMBER("rope-high")},
    {"original_max_position_embeddings", NUMBER("rope-length")},
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
