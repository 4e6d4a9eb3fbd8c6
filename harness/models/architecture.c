/*
 * Architectures that are not read: a message says which it is, and what of it is not supported.
 */
#include "model_check.h"

#include "../base/message.h"
#include "safetensors.h"

#include <string.h>

/* Up to NULL each: the words that a config.json has as model_type, and parts of names, one of which
 * a tensor of it has and none of a family that is read. */
typedef struct {
    const char *title, *lacks;
    const char *types[5];
    const char *marks[4];
} Architecture;

/* Those first that are told by a name that others lack. */
static const Architecture architectures[] = {
    {"a mixture of experts",
     "a router that chooses among networks is",
     {"mixtral", "qwen2_moe", "qwen3_moe", "deepseek_v3"},
     {".experts.", "block_sparse_moe.", "mlp.router."}},
    {"a model with adapters (LoRA)",
     "adapters that are not merged into the weights are",
     {NULL},
     {"lora_"}},
    {"GPT-2 with attention to another stream",
     "attention to the rows of an encoder is",
     {NULL},
     {"crossattention."}},
    {"a classifier",
     "answers that are no logits of tokens are",
     {NULL},
     {"score.weight", "classifier.", "qa_outputs."}},
    {"Gemma 2 or 3",
     "norms behind a sublayer, before its sum, capped scores and sliding windows are",
     {"gemma2", "gemma3", "gemma3_text"},
     {"pre_feedforward_layernorm"}},
    {"Qwen3", "norms of queries and keys are", {"qwen3"}, {"self_attn.q_norm."}},
    {"OLMo 2",
     "norms of queries and keys, and norms behind a sublayer, before its sum, are",
     {"olmo2"},
     {NULL}},
    {"Phi-3",
     "queries, keys and values in one tensor, and a gate and its network in one, are",
     {"phi3"},
     {"mlp.gate_up_proj."}},
    {"Falcon or BLOOM",
     "rotary positions, or scores with a bias by distance (ALiBi), are",
     {"falcon", "bloom", "RefinedWebModel"},
     {"self_attention.query_key_value."}},
    {"Phi, as its first program wrote it", "names of its tensors are", {"phi-msft"}, {NULL}},
    {"CodeGen", "names of its tensors are", {"codegen"}, {"attn.qkv_proj."}},
    {"GPT-Neo", "layers that see a window of the keys alone are", {"gpt_neo"}, {"attn.attention."}},
    {"GPT-BigCode", "keys and values that queries share are", {"gpt_bigcode"}, {NULL}},
    {"MPT", "scores with a bias by distance (ALiBi) are", {"mpt"}, {"attn.Wqkv."}},
    {"OPT",
     "names of its tensors, and positions that begin at 2, are",
     {"opt"},
     {"decoder.layers."}},
    {"BERT or RoBERTa",
     "attention in both directions with token types, and a head of its own, are",
     {"bert", "roberta", "distilbert", "albert", "electra"},
     {"attention.self.query.", "attention.q_lin."}},
    {"T5",
     "an encoder beside the decoder, and scores with a bias by distance, are",
     {"t5", "mt5", "umt5"},
     {".SelfAttention."}},
    {"Mamba", "state spaces in place of attention are", {"mamba", "mamba2"}, {".mixer."}},
    {"RWKV", "recurrence in place of attention is", {"rwkv"}, {".time_mix", ".time_decay"}},
};

static int refuse(const char *path, const char *kind, const char *name, const Architecture *is)
{
    return complain_of(path, kind, name,
                       "this is %s: %s not supported (docs/models.md has what is)", is->title,
                       is->lacks);
}

static int check_type(const Reading *reading, const char *path, const char *kind,
                      const json_t *said)
{
    const char *type = json_string_value(json_object_get(said, "model_type"));
    if (type == NULL || list_has(reading->flags->ignored, ',', "model_type")) {
        return 0;
    }
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        if (is_listed(architectures[i].types, type)) {
            return refuse(path, kind, "model_type", &architectures[i]);
        }
    }
    return 0;
}

int architecture_check(const Reading *reading)
{
    const TensorSet *set = reading->set;
    int status = check_type(reading, reading->config_path, "key", reading->config);
    for (size_t i = 0; i < set->file_count && status == 0; i++) {
        const json_t *metadata = json_object_get(set->files[i]->header, "__metadata__");
        status = check_type(reading, set->files[i]->path, "metadata", metadata);
    }
    if (status != 0) {
        return status;
    }
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        for (const char *const *mark = architectures[i].marks; *mark != NULL; mark++) {
            for (size_t t = 0; t < set->count; t++) {
                const SetTensor *found = &set->tensors[t];
                if (found->kind != NAME_SLOT && strstr(found->tensor->name, *mark) != NULL) {
                    return refuse(found->file->path, "tensor", found->tensor->name,
                                  &architectures[i]);
                }
            }
        }
    }
    return 0;
}
