/*
 * The names and shapes of tensors that a model file may hold.
 */
#include "model_names.h"

#include "model_structure.h"

#include <stdio.h>
#include <string.h>

static const ExtentInfo extents[EXTENT_COUNT] = {
    [EXTENT_NONE] = {"", 0},
    [EXTENT_D] = {"d", offsetof(ModelFile, d)},
    [EXTENT_HEADS] = {"heads", offsetof(ModelFile, heads)},
    [EXTENT_D_HEAD] = {"d_head", offsetof(ModelFile, d_head)},
    [EXTENT_HIDDEN] = {"hidden", offsetof(ModelFile, hidden)},
    [EXTENT_OTHER] = {"other", offsetof(ModelFile, other)},
    [EXTENT_VOCABULARY] = {"vocabulary", offsetof(ModelFile, vocabulary)},
    [EXTENT_CONTEXT] = {"context", offsetof(ModelFile, context)},
    [EXTENT_CLASSES] = {"classes", offsetof(ModelFile, classes)},
    [EXTENT_ROWS] = {"rows", offsetof(ModelFile, rows)},
    [EXTENT_TUPLES] = {"tuples", offsetof(ModelFile, tuples)},
    [EXTENT_LENGTH] = {"length", offsetof(ModelFile, length)},
};

#define D EXTENT_D
#define HEADS EXTENT_HEADS
#define D_HEAD EXTENT_D_HEAD
#define HIDDEN EXTENT_HIDDEN
#define OTHER EXTENT_OTHER
#define LAYER(field) offsetof(ModelFileLayer, field)
#define MODEL(field) offsetof(ModelFile, field)

static const SlotInfo slots[SLOT_COUNT] = {
    [SLOT_W_Q] = {"attn.W_Q", LAYER(attn.W_Q), 3, {HEADS, D, D_HEAD}},
    [SLOT_W_K] = {"attn.W_K", LAYER(attn.W_K), 3, {HEADS, D, D_HEAD}},
    [SLOT_W_V] = {"attn.W_V", LAYER(attn.W_V), 3, {HEADS, D, D_HEAD}},
    [SLOT_W_O] = {"attn.W_O", LAYER(attn.W_O), 3, {HEADS, D_HEAD, D}},
    [SLOT_B_Q] = {"attn.b_Q", LAYER(attn.b_Q), 2, {HEADS, D_HEAD}},
    [SLOT_B_K] = {"attn.b_K", LAYER(attn.b_K), 2, {HEADS, D_HEAD}},
    [SLOT_B_V] = {"attn.b_V", LAYER(attn.b_V), 2, {HEADS, D_HEAD}},
    [SLOT_B_O] = {"attn.b_O", LAYER(attn.b_O), 1, {D}},
    [SLOT_QK] = {"attn.QK", LAYER(attn.QK), 3, {HEADS, D, D}},
    [SLOT_OV] = {"attn.OV", LAYER(attn.OV), 3, {HEADS, D, D}},
    [SLOT_W_IN] = {"mlp.W_in", LAYER(mlp.W_in), 2, {D, HIDDEN}},
    [SLOT_B_IN] = {"mlp.b_in", LAYER(mlp.b_in), 1, {HIDDEN}},
    [SLOT_W_OUT] = {"mlp.W_out", LAYER(mlp.W_out), 2, {HIDDEN, D}},
    [SLOT_B_OUT] = {"mlp.b_out", LAYER(mlp.b_out), 1, {D}},
    [SLOT_LINEAR_W] = {"linear.W", LAYER(linear.W), 2, {D, OTHER}},
    [SLOT_LINEAR_B] = {"linear.b", LAYER(linear.b), 1, {OTHER}},
    [SLOT_W_E] = {"embed.W_E", MODEL(W_E), 2, {EXTENT_VOCABULARY, D}},
    [SLOT_W_POS] = {"pos_embed.W_pos", MODEL(W_pos), 2, {EXTENT_CONTEXT, D}},
    [SLOT_W_U] = {"unembed.W_U", MODEL(W_U), 2, {D, EXTENT_CLASSES}},
    [SLOT_B_U] = {"unembed.b_U", MODEL(b_U), 1, {EXTENT_CLASSES}},
    [SLOT_X] = {"X", MODEL(X), 2, {EXTENT_ROWS, D}},
    [SLOT_X_HIDDEN] = {"result.X_hidden", MODEL(X_hidden), 2, {EXTENT_ROWS, OTHER}},
    [SLOT_TOKENS] = {"tokens", MODEL(tokens), 2, {EXTENT_TUPLES, EXTENT_LENGTH}},
};

const ExtentInfo *extent_info(Extent extent)
{
    return &extents[extent];
}

const SlotInfo *slot_info(Slot slot)
{
    return &slots[slot];
}

Extent slot_extent(Slot slot, size_t layer, size_t axis)
{
    Extent extent = slots[slot].shape[axis];
    bool back = layer % 2 == 1 && (slot == SLOT_LINEAR_W || slot == SLOT_LINEAR_B);
    if (back) {
        return extent == EXTENT_D ? EXTENT_OTHER : EXTENT_D;
    }
    return extent;
}

/* Past "blocks.{l}.", or NULL: l has no leading zeros, so a tensor has one name. */
static const char *skip_layer(size_t *layer, const char *name)
{
    static const char prefix[] = "blocks.";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) {
        return NULL;
    }
    const char *digits = name + sizeof prefix - 1;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 9 || digits[count] != '.' || (count > 1 && digits[0] == '0')) {
        return NULL;
    }
    *layer = 0;
    for (size_t i = 0; i < count; i++) {
        *layer = 10 * *layer + (size_t)(digits[i] - '0');
    }
    return digits + count + 1;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

NameKind name_classify(Slot *slot, size_t *layer, const char *name)
{
    const char *rest = skip_layer(layer, name);
    Slot first = rest != NULL ? 0 : SLOTS_OF_LAYER;
    Slot end = rest != NULL ? SLOTS_OF_LAYER : SLOT_COUNT;
    for (*slot = first; *slot < end; (*slot)++) {
        if (strcmp(rest != NULL ? rest : name, slots[*slot].name) == 0) {
            *layer = rest != NULL ? *layer : 0;
            return NAME_SLOT;
        }
    }
    bool result = strncmp(name, "result.", strlen("result.")) == 0;
    if (result || ends_in(name, "attn.mask") || ends_in(name, "attn.IGNORE")) {
        return NAME_BUFFER;
    }
    bool structure = structure_of(name) != NULL;
    return structure ? NAME_STRUCTURE : NAME_UNKNOWN;
}
