/*
 * The shapes of the tensors that a model may have.
 */
#include "family.h"

const ExtentInfo extent_infos[EXTENT_COUNT] = {
    [EXTENT_NONE] = {"", 0},
    [EXTENT_D] = {"d", offsetof(ModelFile, d)},
    [EXTENT_HEADS] = {"heads", offsetof(ModelFile, heads)},
    [EXTENT_KEY_HEADS] = {"key_heads", offsetof(ModelFile, key_heads)},
    [EXTENT_D_HEAD] = {"d_head", offsetof(ModelFile, d_head)},
    [EXTENT_HIDDEN] = {"hidden", offsetof(ModelFile, hidden)},
    [EXTENT_OTHER] = {"other", offsetof(ModelFile, other)},
    [EXTENT_VOCABULARY] = {"vocabulary", offsetof(ModelFile, vocabulary)},
    [EXTENT_CONTEXT] = {"context", offsetof(ModelFile, context)},
    [EXTENT_WINDOW] = {"window", offsetof(ModelFile, window)},
    [EXTENT_CLASSES] = {"classes", offsetof(ModelFile, classes)},
    [EXTENT_ROWS] = {"rows", offsetof(ModelFile, rows)},
    [EXTENT_TUPLES] = {"tuples", offsetof(ModelFile, tuples)},
    [EXTENT_LENGTH] = {"length", offsetof(ModelFile, length)},
    [EXTENT_WINDOWS] = {"windows", offsetof(ModelFile, witness.windows)},
    [EXTENT_SPAN] = {"span", offsetof(ModelFile, witness.span)},
    [EXTENT_ANSWERS] = {"answers", offsetof(ModelFile, witness.answers)},
};

#define D EXTENT_D
#define HEADS EXTENT_HEADS
#define D_HEAD EXTENT_D_HEAD
#define HIDDEN EXTENT_HIDDEN
#define OTHER EXTENT_OTHER
#define LAYER(field) offsetof(GivenLayer, field)
#define MODEL(field) offsetof(ModelFile, field)

const SlotInfo slot_infos[SLOT_COUNT] = {
    [SLOT_W_Q] = {LAYER(w_q), 3, {HEADS, D, D_HEAD}},
    [SLOT_W_K] = {LAYER(w_k), 3, {HEADS, D, D_HEAD}},
    [SLOT_W_V] = {LAYER(w_v), 3, {HEADS, D, D_HEAD}},
    [SLOT_W_O] = {LAYER(w_o), 3, {HEADS, D_HEAD, D}},
    [SLOT_B_Q] = {LAYER(b_q), 2, {HEADS, D_HEAD}},
    [SLOT_B_K] = {LAYER(b_k), 2, {HEADS, D_HEAD}},
    [SLOT_B_V] = {LAYER(b_v), 2, {HEADS, D_HEAD}},
    [SLOT_B_O] = {LAYER(b_o), 1, {D}},
    [SLOT_QK] = {LAYER(qk), 3, {HEADS, D, D}},
    [SLOT_OV] = {LAYER(ov), 3, {HEADS, D, D}},
    [SLOT_W_GATE] = {LAYER(w_gate), 2, {D, HIDDEN}},
    [SLOT_B_GATE] = {LAYER(b_gate), 1, {HIDDEN}},
    [SLOT_W_IN] = {LAYER(w_in), 2, {D, HIDDEN}},
    [SLOT_B_IN] = {LAYER(b_in), 1, {HIDDEN}},
    [SLOT_W_OUT] = {LAYER(w_out), 2, {HIDDEN, D}},
    [SLOT_B_OUT] = {LAYER(b_out), 1, {D}},
    [SLOT_LINEAR_W] = {LAYER(linear_w), 2, {D, OTHER}},
    [SLOT_LINEAR_B] = {LAYER(linear_b), 1, {OTHER}},
    [SLOT_LN1_W] = {LAYER(ln1_w), 1, {D}},
    [SLOT_LN1_B] = {LAYER(ln1_b), 1, {D}},
    [SLOT_LN2_W] = {LAYER(ln2_w), 1, {D}},
    [SLOT_LN2_B] = {LAYER(ln2_b), 1, {D}},
    [SLOT_W_E] = {MODEL(W_E), 2, {EXTENT_VOCABULARY, D}},
    [SLOT_W_POS] = {MODEL(W_pos), 2, {EXTENT_CONTEXT, D}},
    [SLOT_LN_FINAL_W] = {MODEL(ln_final_w), 1, {D}},
    [SLOT_LN_FINAL_B] = {MODEL(ln_final_b), 1, {D}},
    [SLOT_W_U] = {MODEL(W_U), 2, {D, EXTENT_CLASSES}},
    [SLOT_B_U] = {MODEL(b_U), 1, {EXTENT_CLASSES}},
    [SLOT_X] = {MODEL(X), 2, {EXTENT_ROWS, D}},
    [SLOT_X_HIDDEN] = {MODEL(X_hidden), 2, {EXTENT_ROWS, OTHER}},
    [SLOT_WITNESS_LOGITS] = {MODEL(witness.logits),
                             3,
                             {EXTENT_WINDOWS, EXTENT_ANSWERS, EXTENT_CLASSES}},
    [SLOT_WITNESS_RESID] = {MODEL(witness.resid), 3, {EXTENT_WINDOWS, EXTENT_ANSWERS, D}},
    [SLOT_TOKENS] = {MODEL(tokens), 2, {EXTENT_TUPLES, EXTENT_LENGTH}},
    [SLOT_WITNESS_TOKENS] = {MODEL(witness.tokens), 2, {EXTENT_WINDOWS, EXTENT_SPAN}},
};

size_t *model_size(ModelFile *model, Extent extent)
{
    return (size_t *)(void *)((char *)model + extent_infos[extent].field);
}

Extent slot_extent(Slot slot, size_t layer, size_t axis)
{
    Extent extent = slot_infos[slot].shape[axis];
    bool back = layer % 2 == 1 && (slot == SLOT_LINEAR_W || slot == SLOT_LINEAR_B);
    if (back) {
        return extent == EXTENT_D ? EXTENT_OTHER : EXTENT_D;
    }
    return extent;
}
