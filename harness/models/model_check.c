/*
 * Whether the tensors of a file fit together as a model: its layers and their parts.
 */
#include "model_check.h"

#include "../base/message.h"

#include <stdio.h>
#include <string.h>

#define ATTENTION_FACTORS                                                                          \
    (SLOT_BIT(SLOT_W_Q) | SLOT_BIT(SLOT_W_K) | SLOT_BIT(SLOT_W_V) | SLOT_BIT(SLOT_W_O))
#define ATTENTION_INNER                                                                            \
    (ATTENTION_FACTORS | SLOT_BIT(SLOT_B_Q) | SLOT_BIT(SLOT_B_K) | SLOT_BIT(SLOT_B_V))
#define ATTENTION_MERGED (SLOT_BIT(SLOT_QK) | SLOT_BIT(SLOT_OV))
#define ATTENTION_ANY (ATTENTION_INNER | ATTENTION_MERGED | SLOT_BIT(SLOT_B_O))
#define MLP_NEEDED (SLOT_BIT(SLOT_W_IN) | SLOT_BIT(SLOT_W_OUT))
#define MLP_GATE (SLOT_BIT(SLOT_W_GATE) | SLOT_BIT(SLOT_B_GATE))
#define MLP_ANY (MLP_NEEDED | MLP_GATE | SLOT_BIT(SLOT_B_IN) | SLOT_BIT(SLOT_B_OUT))
#define LINEAR_NEEDED SLOT_BIT(SLOT_LINEAR_W)
#define LINEAR_ANY (LINEAR_NEEDED | SLOT_BIT(SLOT_LINEAR_B))
#define LN1_ANY (SLOT_BIT(SLOT_LN1_W) | SLOT_BIT(SLOT_LN1_B))
#define LN2_ANY (SLOT_BIT(SLOT_LN2_W) | SLOT_BIT(SLOT_LN2_B))
#define LN_FINAL_ANY (SLOT_BIT(SLOT_LN_FINAL_W) | SLOT_BIT(SLOT_LN_FINAL_B))

enum { NAME_MOST = 112 };

bool model_has_any(const Reading *reading, SlotSet slots)
{
    SlotSet found = 0;
    for (size_t layer = 0; layer <= reading->model->depth; layer++) {
        found |= reading->found[layer] & slots;
    }
    return found != 0;
}

/* Names those of `needed` that are not in `found`; a tensor that holds several, once. */
static int check_needed(const Reading *reading, size_t layer, SlotSet needed)
{
    char text[400];
    size_t used = 0;
    const char *before = NULL;
    SlotSet missing = needed & ~reading->found[layer];
    for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
        const char *name = family_slot_name(reading->family, (Slot)slot);
        if ((missing & SLOT_BIT(slot)) != 0 && name != before) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : ", ",
                                     name);
            before = name;
        }
    }
    const char *zeros = (missing & ~BIASES) == 0 ? " (zeros, if the model has none)" : "";
    return missing == 0 ? 0
                        : complain_of(reading->set->path, "layer",
                                      family_layer_name(reading->family, layer).text,
                                      "missing: expected also %s%s", text, zeros);
}

/* The first of `slots` that the layer has. */
static const char *first_found(const Reading *reading, size_t layer, SlotSet slots)
{
    for (int slot = 0; slot < SLOTS_OF_LAYER; slot++) {
        if ((reading->found[layer] & slots & SLOT_BIT(slot)) != 0) {
            return family_slot_name(reading->family, (Slot)slot);
        }
    }
    return "nothing";
}

/* The slots that the layer must have, from those that it has: `norms` where any layer is
 * normalised. */
static SlotSet needed_of(const Reading *reading, SlotSet found)
{
    bool attention = (found & ATTENTION_ANY) != 0, mlp = (found & MLP_ANY) != 0;
    bool linear = (found & LINEAR_ANY) != 0, merged = (found & ATTENTION_MERGED) != 0;
    SlotSet needed = reading->required & (SLOT_BIT(SLOTS_OF_LAYER) - 1);
    needed |= attention ? merged ? ATTENTION_MERGED : ATTENTION_FACTORS : 0;
    needed |= mlp ? MLP_NEEDED : 0;
    needed |= (found & MLP_GATE) != 0 ? SLOT_BIT(SLOT_W_GATE) : 0;
    needed |= linear ? LINEAR_NEEDED : 0;
    needed |= reading->norms && (attention || linear) ? SLOT_BIT(SLOT_LN1_W) : 0;
    needed |= reading->norms && mlp && !reading->family->one_norm ? SLOT_BIT(SLOT_LN2_W) : 0;
    return needed;
}

static ModelFileKind kind_of(SlotSet found)
{
    bool attention = (found & ATTENTION_ANY) != 0, mlp = (found & MLP_ANY) != 0;
    return (found & LINEAR_ANY) != 0 ? MODEL_FILE_LINEAR
           : attention && mlp        ? MODEL_FILE_TRANSFORMER
           : attention               ? MODEL_FILE_ATTENTION
                                     : MODEL_FILE_FFN;
}

/* One layer by itself. */
static int check_layer(const Reading *reading, size_t layer)
{
    /* Parts that exclude each other, and norms that need what they normalise. */
    static const struct {
        SlotSet part, other;
        bool together;
        const char *expected;
    } faults[] = {
        {ATTENTION_MERGED, ATTENTION_INNER, true, "either QK and OV, or W_Q, W_K, W_V and W_O"},
        {LINEAR_ANY, ATTENTION_ANY | MLP_ANY, true, "linear alone"},
        {LN1_ANY, ATTENTION_ANY | LINEAR_ANY, false, "attention or a linear map"},
        {LN2_ANY, MLP_ANY, false, "a feed-forward network"}};
    const LayerName name = family_layer_name(reading->family, layer);
    SlotSet found = reading->found[layer];
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool together = (found & faults[i].other) != 0;
        if ((found & faults[i].part) == 0 || together != faults[i].together) {
            continue;
        }
        const char *part = first_found(reading, layer, faults[i].part);
        const char *other = first_found(reading, layer, faults[i].other);
        return together
                   ? complain_of(reading->set->path, "layer", name.text,
                                 "both %s and %s: expected %s", part, other, faults[i].expected)
                   : complain_of(reading->set->path, "layer", name.text,
                                 "has %s: expected it before %s", part, faults[i].expected);
    }
    return check_needed(reading, layer, needed_of(reading, found));
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

/* Networks are gated in every layer or in none. */
static int check_gates(Reading *reading)
{
    ModelFile *model = reading->model;
    bool mlp = model->kind == MODEL_FILE_FFN || model->kind == MODEL_FILE_TRANSFORMER;
    model->gated = mlp && (reading->found[0] & MLP_GATE) != 0;
    for (size_t layer = 0; mlp && layer < model->depth; layer++) {
        if (((reading->found[layer] & MLP_GATE) != 0) != model->gated) {
            return complain_of(
                reading->set->path, "layer", family_layer_name(reading->family, layer).text,
                "%s %s: expected %s, as in the layers before", model->gated ? "has no" : "has",
                family_slot_name(reading->family, SLOT_W_GATE), model->gated ? "one" : "none");
        }
    }
    return 0;
}

static int check_layers(Reading *reading)
{
    ModelFile *model = reading->model;
    model->kind = MODEL_FILE_INPUT;
    for (size_t layer = 0; layer < model->depth; layer++) {
        ModelFileKind kind = kind_of(reading->found[layer]);
        bool merged = (reading->found[layer] & ATTENTION_MERGED) != 0;
        int status = check_layer(reading, layer);
        if (status != 0) {
            return status;
        }
        model->kind = layer == 0 ? kind : model->kind;
        model->merged = layer == 0 ? merged : model->merged;
        if (kind != model->kind || merged != model->merged) {
            return complain_of(
                reading->set->path, "layer", family_layer_name(reading->family, layer).text,
                "has %s: expected %s, as %s has", kind_text(kind, merged),
                kind_text(model->kind, model->merged), family_layer_name(reading->family, 0).text);
        }
    }
    return 0;
}

/* The slots that the family demands of every file, and whether any norm is there. */
static void find_demands(Reading *reading)
{
    for (const TensorName *entry = reading->family->names; entry->name != NULL; entry++) {
        for (size_t part = 0; entry->required && part < entry->parts; part++) {
            reading->required |= SLOT_BIT(entry->slot + (Slot)part);
        }
    }
    reading->norms = model_has_any(reading, LN1_ANY | LN2_ANY | LN_FINAL_ANY);
}

/* Tensors of no layer: those that others need, and those of every file of the family. */
static int check_pairs(const Reading *reading)
{
    static const struct {
        Slot slot, needs;
    } pairs[] = {{SLOT_W_POS, SLOT_W_E},
                 {SLOT_TOKENS, SLOT_W_E},
                 {SLOT_LN_FINAL_B, SLOT_LN_FINAL_W},
                 {SLOT_B_U, SLOT_W_U},
                 {SLOT_X_HIDDEN, SLOT_X},
                 {SLOT_WITNESS_TOKENS, SLOT_W_E},
                 {SLOT_WITNESS_LOGITS, SLOT_WITNESS_TOKENS},
                 {SLOT_WITNESS_RESID, SLOT_WITNESS_TOKENS},
                 {SLOT_WITNESS_LOGITS, SLOT_W_U}};
    const Family *family = reading->family;
    SlotSet found = reading->found[reading->model->depth];
    for (int slot = SLOTS_OF_LAYER; slot < SLOT_COUNT; slot++) {
        if ((reading->required & ~found & SLOT_BIT(slot)) != 0) {
            return complain_of(reading->set->path, "tensor", family_slot_name(family, (Slot)slot),
                               "missing: expected it, as %s has it%s", family->title,
                               (SLOT_BIT(slot) & BIASES) != 0 ? " (zeros, if it has none)" : "");
        }
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if ((found & SLOT_BIT(pairs[i].slot)) != 0 && (found & SLOT_BIT(pairs[i].needs)) == 0) {
            return complain_of(
                reading->set->path, "tensor", family_slot_name(family, pairs[i].needs),
                "missing: expected it beside '%s'", family_slot_name(family, pairs[i].slot));
        }
    }
    return 0;
}

/* Biases come in kinds, of which a model has all or none: one that was lost would count as 0. */
static const SlotSet bias_kinds[] = {
    SLOT_BIT(SLOT_B_Q) | SLOT_BIT(SLOT_B_K) | SLOT_BIT(SLOT_B_V),
    SLOT_BIT(SLOT_B_O),
    SLOT_BIT(SLOT_B_GATE), /* of TransformerLens's, which have the others, none has it */
    SLOT_BIT(SLOT_B_IN) | SLOT_BIT(SLOT_B_OUT),
    SLOT_BIT(SLOT_LINEAR_B),
    SLOT_BIT(SLOT_LN1_B) | SLOT_BIT(SLOT_LN2_B) | SLOT_BIT(SLOT_LN_FINAL_B),
};

/* The weights that each bias belongs to: a layer without the one has none of the other. */
static Slot weights_of(Slot bias)
{
    switch (bias) {
    case SLOT_B_Q: return SLOT_W_Q;
    case SLOT_B_K: return SLOT_W_K;
    case SLOT_B_V: return SLOT_W_V;
    case SLOT_B_O: return SLOT_W_O;
    default: return bias > 0 ? bias - 1 : bias; /* they follow each other in the table */
    }
}

/* Must what is found there have that bias? */
static bool is_biased(SlotSet found, Slot slot)
{
    bool merged = slot == SLOT_B_O && (found & ATTENTION_MERGED) != 0;
    return merged || (found & SLOT_BIT(weights_of(slot))) != 0;
}

/* "blocks.0.attn.b_Q", or where layer is depth "ln_final.b" */
static void bias_name(char text[NAME_MOST], const Reading *reading, size_t layer, Slot slot)
{
    bool of_layer = layer < reading->model->depth;
    snprintf(text, NAME_MOST, "%s%s%.60s",
             of_layer ? family_layer_name(reading->family, layer).text : "", of_layer ? "." : "",
             family_slot_name(reading->family, slot));
}

static int check_bias_kind(const Reading *reading, SlotSet kind)
{
    char there[NAME_MOST] = "", missing[NAME_MOST] = "";
    for (size_t layer = 0; layer <= reading->model->depth; layer++) {
        SlotSet found = reading->found[layer];
        for (Slot slot = 0; slot < SLOT_COUNT; slot++) {
            if ((kind & found & SLOT_BIT(slot)) != 0 && there[0] == '\0') {
                bias_name(there, reading, layer, slot);
            } else if ((kind & ~found & SLOT_BIT(slot)) != 0 && is_biased(found, slot) &&
                       missing[0] == '\0') {
                bias_name(missing, reading, layer, slot);
            }
        }
    }
    return there[0] == '\0' || missing[0] == '\0'
               ? 0
               : complain_of(reading->set->path, "tensor", missing,
                             "missing: expected it, as there is %s (zeros, if the model has none)",
                             there);
}

static int check_witness(const Reading *reading)
{
    const ModelFile *model = reading->model;
    const ModelFileWitness *witness = &model->witness;
    SlotSet found = reading->found[model->depth];
    bool logits = (found & SLOT_BIT(SLOT_WITNESS_LOGITS)) != 0;
    bool resid = (found & SLOT_BIT(SLOT_WITNESS_RESID)) != 0;
    if ((found & SLOT_BIT(SLOT_WITNESS_TOKENS)) == 0) {
        return 0;
    }
    if (logits == resid || (resid && (found & SLOT_BIT(SLOT_W_U)) != 0)) {
        return complain_of(reading->set->path, "tensor", "witness.tokens",
                           "expected one beside it: witness.logits, or without an unembedding "
                           "witness.resid");
    }
    if (model->kind == MODEL_FILE_LINEAR || model->kind == MODEL_FILE_INPUT) {
        return complain_of(reading->set->path, "tensor", "witness.tokens",
                           "expected none beside linear maps or an X alone");
    }
    if (witness->answers != 1 && witness->answers != witness->span) {
        return complain_of(reading->set->path, "tensor",
                           logits ? "witness.logits" : "witness.resid",
                           "%zu answers a window: expected 1 (at the last token), or %zu",
                           witness->answers, witness->span);
    }
    if (model->context > 0 && witness->span > model->context) {
        return complain_of(reading->set->path, "tensor", "witness.tokens",
                           "length %zu: expected at most %zu, as %s says", witness->span,
                           model->context, reading->given_by[EXTENT_CONTEXT]);
    }
    return 0;
}

int model_check_parts(Reading *reading)
{
    const ModelFile *model = reading->model;
    SlotSet found = reading->found[model->depth];
    find_demands(reading);
    int status = check_layers(reading);
    status = status != 0 ? status : check_gates(reading);
    status = status != 0 ? status : check_pairs(reading);
    for (size_t i = 0; i < sizeof bias_kinds / sizeof *bias_kinds && status == 0; i++) {
        status = check_bias_kind(reading, bias_kinds[i]);
    }
    status = status != 0 ? status : check_witness(reading);
    if (status != 0) {
        return status;
    }
    if ((found & SLOT_BIT(SLOT_X_HIDDEN)) != 0 && model->kind != MODEL_FILE_LINEAR) {
        return complain_of(reading->set->path, "tensor",
                           family_slot_name(reading->family, SLOT_X_HIDDEN),
                           "expected it beside linear maps alone");
    }
    if ((found & SLOT_BIT(SLOT_X)) != 0 && (found & SLOT_BIT(SLOT_TOKENS)) != 0) {
        return complain_of(reading->set->path, "tensor", "tokens",
                           "expected either tokens or X, not both");
    }
    if (model->context > 0 && model->length > model->context) {
        return complain_of(reading->set->path, "tensor", "tokens",
                           "length %zu: expected at most %zu, as %s says", model->length,
                           model->context, reading->given_by[EXTENT_CONTEXT]);
    }
    return 0;
}
