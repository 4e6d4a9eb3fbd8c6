/*
 * Changes of what a well-formed model says: shapes, names, dtypes, offsets, and what stands beside
 * the tensors.  The files stay files.
 */
#include "fuzz_grammar.h"

#include <stdio.h>
#include <string.h>

static SaidTensor *any_tensor(SaidModel *model, Decisions *decisions)
{
    return &model->tensors[decide(decisions, model->count)];
}

static void insert_axis(SaidTensor *tensor, size_t at, size_t size)
{
    if (tensor->rank < SAID_AXES) {
        memmove(tensor->shape + at + 1, tensor->shape + at,
                (tensor->rank - at) * sizeof *tensor->shape);
        tensor->shape[at] = size;
        tensor->rank++;
    }
}

static void drop_axis(SaidTensor *tensor, size_t at)
{
    memmove(tensor->shape + at, tensor->shape + at + 1,
            (tensor->rank - at - 1) * sizeof *tensor->shape);
    tensor->rank--;
}

static void change_axes(SaidModel *model, Decisions *decisions)
{
    SaidTensor *tensor = any_tensor(model, decisions);
    size_t *shape = tensor->shape, rank = tensor->rank, way = decide(decisions, 8);
    size_t a = decide(decisions, rank + 1), b = decide(decisions, rank + 1);
    if (way < 2 && a < rank && b < rank) {
        size_t swapped = shape[a];
        shape[a] = shape[b];
        shape[b] = swapped;
    } else if (way < 5) {
        for (size_t more = way == 4 ? 1 + b : 1; more > 0; more--) {
            insert_axis(tensor, a, way == 3 ? 2 : 1);
        }
    } else if (a < rank) {
        if (way == 5 && rank > 1) {
            shape[a == 0 ? 1 : a - 1] *= shape[a];
        }
        drop_axis(tensor, a);
    }
}

static void change_size(SaidModel *model, Decisions *decisions)
{
    static const size_t sizes[] = {0,
                                   1,
                                   2,
                                   5,
                                   6,
                                   8,
                                   12,
                                   (size_t)1 << 31,
                                   (size_t)1 << 32,
                                   (size_t)1 << 61,
                                   SIZE_MAX / 2,
                                   SIZE_MAX / 3};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    SaidTensor *tensor = any_tensor(model, decisions);
    size_t at = decide(decisions, tensor->rank + 1), way = decide(decisions, SIZES + 4);
    if (at < tensor->rank) {
        size_t *size = &tensor->shape[at];
        *size = way < SIZES ? sizes[way] : way % 2 == 0 ? *size + 1 : *size - (*size > 0);
    }
    tensor->loose = tensor->loose || decide(decisions, 8) == 0;
}

/* The same size of every tensor that has it, so that it still fits together, or nearly. */
static void change_sizes(SaidModel *model, Decisions *decisions)
{
    size_t from = 1 + decide(decisions, 6), to = decide(decisions, 7);
    for (size_t t = 0; t < model->count; t++) {
        for (size_t i = 0; i < model->tensors[t].rank; i++) {
            size_t *size = &model->tensors[t].shape[i];
            *size = *size == from ? to : *size;
        }
    }
}

static void change_dtype(SaidModel *model, Decisions *decisions)
{
    static const char *const dtypes[] = {"F64",  "F32",     "F16", "BF16", "I64", "I32",
                                         "I16",  "I8",      "U64", "U32",  "U16", "U8",
                                         "BOOL", "F8_E4M3", "f32", ""};
    SaidTensor *tensor = any_tensor(model, decisions);
    tensor->dtype = dtypes[decide(decisions, 16)];
    tensor->loose = tensor->loose || decide(decisions, 4) == 0;
}

static void change_name(SaidModel *model, Decisions *decisions)
{
    static const char *const others[] = {"result.x",
                                         "blocks.0.attn.W_G",
                                         "blocks.0.mlp.W_gate",
                                         "h.0.attn.rotary.inv_freq",
                                         "model.norm.weight",
                                         "__metadata__x",
                                         "transformer.",
                                         "blocks.0.",
                                         "blocks.999999999.X",
                                         "h.4294967296.X",
                                         "x\\u00e4\\u2028\\u202e",
                                         "transformer.X",
                                         "tokens",
                                         "X",
                                         "q_proj.weight",
                                         "k_proj.weight"};
    SaidTensor *tensor = any_tensor(model, decisions);
    size_t way = decide(decisions, 8), row = decide(decisions, said_rows);
    size_t layer = decide(decisions, 5);
    char name[SAID_NAME];
    snprintf(name, sizeof name, "%s", tensor->name);
    tensor->foreign = true;
    switch (way) {
    case 0: snprintf(tensor->name, SAID_NAME, "%s", others[decide(decisions, 16)]); break;
    case 1: snprintf(tensor->name, SAID_NAME, "transformer.%.200s", name); break;
    case 2: memset(tensor->name, 'n', 250 + row); break;
    case 3: said_name(tensor->name, model, model->gpt2, row, layer); break;
    case 4: said_name(tensor->name, model, !model->gpt2, row, layer); break;
    case 5: said_name(tensor->name, model, !model->gpt2, tensor->of, 0); break;
    default: said_name(tensor->name, model, model->gpt2, tensor->of, layer); break;
    }
}

/* Every name as the other family has it. */
static void change_family(SaidModel *model, Decisions *decisions)
{
    for (size_t t = decide(decisions, 4); t < model->count; t++) {
        SaidTensor *tensor = &model->tensors[t];
        size_t layer = strstr(tensor->name, ".1.") != NULL ? 1 : 0;
        said_name(tensor->name, model, !model->gpt2, tensor->of, layer);
        tensor->foreign = true;
    }
}

static void change_presence(SaidModel *model, Decisions *decisions)
{
    SaidTensor *tensor = any_tensor(model, decisions);
    if (decide(decisions, 2) == 0 && model->count > 1) {
        *tensor = model->tensors[--model->count];
    } else if (model->count < SAID_TENSORS) {
        SaidTensor copy = *tensor;
        copy.foreign = true;
        if (decide(decisions, 2) == 0) {
            snprintf(copy.name, SAID_NAME, "transformer.%.200s", tensor->name);
        }
        model->tensors[model->count++] = copy;
    }
}

static void change_offsets(SaidModel *model, Decisions *decisions)
{
    static const size_t shifts[] = {1, 2, 8, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 7, SIZE_MAX / 2};
    SaidTensor *tensor = any_tensor(model, decisions);
    size_t way = decide(decisions, 3), shift = shifts[decide(decisions, 7)];
    tensor->before += way != 1 ? shift : 0;
    tensor->behind += way != 0 ? shift : 0;
}

static void change_metadata(SaidModel *model, Decisions *decisions)
{
    static const char *const keys[] = {"scale", "activation",          "mask",   "normalization",
                                       "eps",   "normalization-place", "linear", "format"};
    static const char *const values[] = {"\"1\"",      "\"1/sqrt(d_head)\"",
                                         "\"gelu\"",   "\"none\"",
                                         "\"causal\"", "\"layernorm\"",
                                         "\"RMS\"",    "\"LNPre\"",
                                         "\"post\"",   "\"in-place\"",
                                         "\"block\"",  "\"1e12\"",
                                         "\"0\"",      "1e-05",
                                         "null",       "\"\""};
    const char *key = keys[decide(decisions, 8)];
    size_t way = decide(decisions, 20), count = model->metadata.count;
    if (way < 16) {
        said_set(&model->metadata, key, values[way]);
    } else if (count > 0) {
        model->metadata.entries[decide(decisions, count)] = model->metadata.entries[count - 1];
        model->metadata.count--;
    }
}

static void change_config(SaidModel *model, Decisions *decisions)
{
    static const char *const keys[] = {"model_type",
                                       "n_embd",
                                       "n_head",
                                       "n_layer",
                                       "n_positions",
                                       "n_inner",
                                       "vocab_size",
                                       "activation_function",
                                       "layer_norm_epsilon",
                                       "scale_attn_weights",
                                       "tie_word_embeddings",
                                       "add_cross_attention",
                                       "num_key_value_heads",
                                       "rope_theta",
                                       "pruned_heads",
                                       "alibi"};
    static const char *const values[] = {
        "0",  "1",  "2",        "3",     "4",     "-1",   "2.0",  "1e9",
        "{}", "[]", "\"gelu\"", "\"4\"", "false", "true", "null", "9223372036854775807"};
    model->configured = decide(decisions, 8) != 0;
    said_set(&model->config, keys[decide(decisions, 16)], values[decide(decisions, 16)]);
}

/* Where the index says that a tensor is, and where it is. */
static void change_index(SaidModel *model, Decisions *decisions)
{
    SaidTensor *tensor = any_tensor(model, decisions);
    if (model->parts == 0) {
        return;
    }
    size_t where = decide(decisions, 8);
    if (decide(decisions, 2) == 0) {
        tensor->file = where % model->parts;
    } else {
        tensor->listed = where < 3 ? where : SAID_STRANGE + where;
    }
}

static void change_values(SaidModel *model, Decisions *decisions)
{
    any_tensor(model, decisions)->fill = decide(decisions, 6);
}

void said_change(SaidModel *model, Decisions *decisions)
{
    static void (*const changes[])(SaidModel *, Decisions *) = {
        change_axes,     change_axes,   change_axes,     change_size,
        change_size,     change_sizes,  change_dtype,    change_name,
        change_name,     change_family, change_presence, change_offsets,
        change_metadata, change_config, change_index,    change_values};
    static const size_t counts[] = {0, 1, 1, 1, 1, 1, 2, 3};
    model->changes = counts[decide(decisions, 8)];
    for (size_t i = 0; i < model->changes && model->count > 0; i++) {
        changes[decide(decisions, 16)](model, decisions);
    }
}
