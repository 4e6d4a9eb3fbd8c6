/*
 * Whether the tensors of a file fit together as a model: shapes, layers, metadata.
 */
#include "model_check.h"

#include "../base/domain.h"
#include "../base/message.h"
#include "safetensors_values.h"

#include "../../cases/activation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ATTENTION_FACTORS                                                                          \
    (SLOT_BIT(SLOT_W_Q) | SLOT_BIT(SLOT_W_K) | SLOT_BIT(SLOT_W_V) | SLOT_BIT(SLOT_W_O))
#define ATTENTION_INNER                                                                            \
    (ATTENTION_FACTORS | SLOT_BIT(SLOT_B_Q) | SLOT_BIT(SLOT_B_K) | SLOT_BIT(SLOT_B_V))
#define ATTENTION_MERGED (SLOT_BIT(SLOT_QK) | SLOT_BIT(SLOT_OV))
#define ATTENTION_ANY (ATTENTION_INNER | ATTENTION_MERGED | SLOT_BIT(SLOT_B_O))
#define MLP_NEEDED (SLOT_BIT(SLOT_W_IN) | SLOT_BIT(SLOT_W_OUT))
#define MLP_ANY (MLP_NEEDED | SLOT_BIT(SLOT_B_IN) | SLOT_BIT(SLOT_B_OUT))
#define LINEAR_NEEDED SLOT_BIT(SLOT_LINEAR_W)
#define LINEAR_ANY (LINEAR_NEEDED | SLOT_BIT(SLOT_LINEAR_B))

static int refuse(const Reading *reading, const char *kind, const char *name, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

static int refuse(const Reading *reading, const char *kind, const char *name, const char *format,
                  ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    complain_of(safetensors_path(reading->file), kind, name, "%s", text);
    return 2;
}

static size_t *size_field(ModelFile *model, Extent extent)
{
    return (size_t *)(void *)((char *)model + extent_info(extent)->field);
}

/* text = "[heads, d, d_head]" */
static void symbols_text(char *text, size_t size, Slot slot, size_t layer)
{
    size_t used = 0;
    for (size_t i = 0; i < slot_info(slot)->rank; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "[" : ", ",
                                 extent_info(slot_extent(slot, layer, i))->symbol);
    }
    snprintf(text + used, size - used, "]");
}

int model_check_shape(Reading *reading, const SafetensorsTensor *tensor, Slot slot, size_t layer)
{
    char shape[SAFETENSORS_TUPLE_MOST], symbols[64];
    safetensors_shape_text(shape, tensor->rank, tensor->shape);
    symbols_text(symbols, sizeof symbols, slot, layer);
    if (tensor->rank != slot_info(slot)->rank || tensor->count == 0) {
        return refuse(reading, "tensor", tensor->name, "shape %s: expected %s, all at least 1",
                      shape, symbols);
    }
    for (size_t i = 0; i < tensor->rank; i++) {
        Extent extent = slot_extent(slot, layer, i);
        size_t *size = size_field(reading->model, extent);
        if (*size == 0) {
            *size = tensor->shape[i];
            reading->given_by[extent] = tensor->name;
        }
        if (*size != tensor->shape[i]) {
            return refuse(reading, "tensor", tensor->name,
                          "shape %s: expected %s with %s = %zu as in '%.255s'", shape, symbols,
                          extent_info(extent)->symbol, *size, reading->given_by[extent]);
        }
    }
    return 0;
}

/* Names those of `needed` that are not in `found`. */
static int check_needed(const Reading *reading, size_t layer, unsigned needed)
{
    char text[256], name[SLOT_NAME_MOST];
    size_t used = 0;
    unsigned missing = needed & ~reading->found[layer];
    for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
        if ((missing & SLOT_BIT(slot)) != 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : ", ",
                                     slot_info((Slot)slot)->name);
        }
    }
    snprintf(name, sizeof name, "blocks.%zu", layer);
    return missing == 0 ? 0 : refuse(reading, "layer", name, "missing: expected also %s", text);
}

/* The first of `slots` that the layer has. */
static const char *first_found(const Reading *reading, size_t layer, unsigned slots)
{
    for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
        if ((reading->found[layer] & slots & SLOT_BIT(slot)) != 0) {
            return slot_info((Slot)slot)->name;
        }
    }
    return "nothing";
}

/* One layer by itself. */
static int check_layer(const Reading *reading, size_t layer, ModelFileKind *kind, bool *merged)
{
    char name[SLOT_NAME_MOST];
    unsigned found = reading->found[layer], needed = 0;
    bool attention = (found & ATTENTION_ANY) != 0, mlp = (found & MLP_ANY) != 0;
    bool linear = (found & LINEAR_ANY) != 0;
    snprintf(name, sizeof name, "blocks.%zu", layer);
    *merged = (found & ATTENTION_MERGED) != 0;
    *kind = linear             ? MODEL_FILE_LINEAR
            : attention && mlp ? MODEL_FILE_TRANSFORMER
            : attention        ? MODEL_FILE_ATTENTION
                               : MODEL_FILE_FFN;
    if (*merged && (found & ATTENTION_INNER) != 0) {
        return refuse(reading, "layer", name,
                      "both %s and %s: expected either QK and OV, or W_Q, W_K, W_V and W_O",
                      first_found(reading, layer, ATTENTION_MERGED),
                      first_found(reading, layer, ATTENTION_INNER));
    }
    if (linear && (attention || mlp)) {
        return refuse(reading, "layer", name, "both %s and %s: expected linear alone",
                      first_found(reading, layer, LINEAR_ANY),
                      first_found(reading, layer, ATTENTION_ANY | MLP_ANY));
    }
    needed |= attention ? *merged ? ATTENTION_MERGED : ATTENTION_FACTORS : 0;
    needed |= mlp ? MLP_NEEDED : 0;
    needed |= linear ? LINEAR_NEEDED : 0;
    return check_needed(reading, layer, needed);
}

static const char *kind_text(ModelFileKind kind, bool merged)
{
    switch (kind) {
    case MODEL_FILE_ATTENTION: return merged ? "attn (merged)" : "attn";
    case MODEL_FILE_FFN: return "mlp";
    case MODEL_FILE_TRANSFORMER: return merged ? "attn (merged) and mlp" : "attn and mlp";
    default: return "linear";
    }
}

static int check_layers(Reading *reading)
{
    ModelFile *model = reading->model;
    model->kind = MODEL_FILE_INPUT;
    for (size_t layer = 0; layer < model->depth; layer++) {
        ModelFileKind kind;
        bool merged;
        int status = check_layer(reading, layer, &kind, &merged);
        if (status != 0) {
            return status;
        }
        if (layer == 0) {
            model->kind = kind;
            model->merged = merged;
        }
        if (kind != model->kind || merged != model->merged) {
            char name[SLOT_NAME_MOST];
            snprintf(name, sizeof name, "blocks.%zu", layer);
            return refuse(reading, "layer", name, "has %s: expected %s, as blocks.0 has",
                          kind_text(kind, merged), kind_text(model->kind, model->merged));
        }
    }
    return 0;
}

int model_check_parts(Reading *reading)
{
    static const struct {
        Slot slot, needs;
    } pairs[] = {{SLOT_W_POS, SLOT_W_E},
                 {SLOT_TOKENS, SLOT_W_E},
                 {SLOT_B_U, SLOT_W_U},
                 {SLOT_X_HIDDEN, SLOT_X}};
    const ModelFile *model = reading->model;
    unsigned found = reading->found[model->depth];
    int status = check_layers(reading);
    if (status != 0) {
        return status;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if ((found & SLOT_BIT(pairs[i].slot)) != 0 && (found & SLOT_BIT(pairs[i].needs)) == 0) {
            return refuse(reading, "tensor", slot_info(pairs[i].needs)->name,
                          "missing: expected it beside '%s'", slot_info(pairs[i].slot)->name);
        }
    }
    if ((found & SLOT_BIT(SLOT_X_HIDDEN)) != 0 && model->kind != MODEL_FILE_LINEAR) {
        return refuse(reading, "tensor", slot_info(SLOT_X_HIDDEN)->name,
                      "expected it beside linear maps alone");
    }
    if ((found & SLOT_BIT(SLOT_X)) != 0 && (found & SLOT_BIT(SLOT_TOKENS)) != 0) {
        return refuse(reading, "tensor", "tokens", "expected either tokens or X, not both");
    }
    if (model->context > 0 && model->length > model->context) {
        return refuse(reading, "tensor", "tokens",
                      "length %zu: expected at most %zu, the context of pos_embed.W_pos",
                      model->length, model->context);
    }
    return 0;
}

/* *choice: which of words [count] the metadata have under key.  Where they have nothing it is 0,
 * and *said is false.  why: what the message says besides to who has another word, or "". */
static int read_choice(const Reading *reading, size_t *choice, bool *said, const char *key,
                       const char *const *words, size_t count, const char *why)
{
    char expected[64];
    size_t used = 0;
    const char *value = safetensors_metadata(reading->file, key);
    *choice = 0;
    *said = value != NULL;
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s",
                                 i == 0 ? "" : ", ", words[i]);
        if (value != NULL && strcmp(value, words[i]) == 0) {
            *choice = i;
            return 0;
        }
    }
    return value == NULL ? 0
                         : refuse(reading, "metadata", key, "'%.100s': expected %s%s%s", value,
                                  count > 1 ? "one of " : "", expected, why);
}

/* Refuses metadata that contradict the tensors. */
static int check_metadata(const Reading *reading, bool no_activation)
{
    const ModelFile *model = reading->model;
    bool said_in_place = model->said.linear && !model->banked && model->kind == MODEL_FILE_LINEAR;
    bool mlp = model->kind == MODEL_FILE_FFN || model->kind == MODEL_FILE_TRANSFORMER;
    if (model->merged && model->scaled) {
        return refuse(reading, "metadata", "scale",
                      "'1/sqrt(d_head)': expected 1, as attn.QK has no d_head");
    }
    if (reading->found[model->depth] & SLOT_BIT(SLOT_X_HIDDEN) && !model->banked) {
        return refuse(reading, "metadata", "linear", "expected block beside result.X_hidden");
    }
    if (said_in_place && model->other != model->d) {
        return refuse(reading, "metadata", "linear",
                      "'in-place': expected block, as linear.W is not square");
    }
    if (mlp && no_activation) {
        char expected[128];
        const Domain domain = {
            .kind = DOMAIN_WORDS, .words = activation_names, .word_count = ACTIVATION_COUNT};
        domain_describe(expected, sizeof expected, &domain);
        return refuse(reading, "metadata", "activation",
                      "'none': expected %s, as there are mlp.W_in", expected);
    }
    return 0;
}

int model_read_metadata(Reading *reading)
{
    static const char *const scales[] = {"1", "1/sqrt(d_head)"};
    const char *activations[ACTIVATION_COUNT + 1];
    static const char *const masks[] = {"none", "causal"};
    static const char *const normalizations[] = {"none"};
    static const char *const linears[] = {"in-place", "block"};
    static const char no_norms[] = ": norms are outside the construction (one without parameters "
                                   "too: a model that has one is another model)";
    ModelFile *model = reading->model;
    ModelFileSaid *said = &model->said;
    size_t scale, activation, mask, normalization, linear;
    memcpy(activations, activation_names, sizeof activation_names);
    activations[ACTIVATION_COUNT] = "none";
    int status = read_choice(reading, &scale, &said->scale, "scale", scales, 2, "");
    if (status == 0) {
        status = read_choice(reading, &activation, &said->activation, "activation", activations,
                             ACTIVATION_COUNT + 1, "");
    }
    if (status == 0) {
        status = read_choice(reading, &mask, &said->mask, "mask", masks, 2, "");
    }
    if (status == 0) {
        status = read_choice(reading, &normalization, &said->normalization, "normalization",
                             normalizations, 1, no_norms);
    }
    if (status == 0) {
        status = read_choice(reading, &linear, &said->linear, "linear", linears, 2, "");
    }
    if (status != 0) {
        return status;
    }
    bool no_activation = activation == ACTIVATION_COUNT;
    model->scaled = scale == 1;
    model->causal = mask == 1;
    model->banked = linear == 1;
    model->activation = no_activation ? ACTIVATION_SILU : (Activation)activation;
    said->activation = said->activation && !no_activation;
    return check_metadata(reading, no_activation);
}
