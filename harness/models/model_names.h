/*
 * The tensors a model may have: one table of shapes and where each goes (private to the reading of
 * model files).  What files call them is in family.h.
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_NAMES_H
#define HEADPROOF_HARNESS_MODELS_MODEL_NAMES_H

#include "model_file.h"

#include <stdint.h>

/* In the table's order: those of a layer first. */
typedef enum {
    SLOT_W_Q,
    SLOT_W_K,
    SLOT_W_V,
    SLOT_W_O,
    SLOT_B_Q,
    SLOT_B_K,
    SLOT_B_V,
    SLOT_B_O,
    SLOT_QK,
    SLOT_OV,
    SLOT_W_GATE,
    SLOT_B_GATE,
    SLOT_W_IN,
    SLOT_B_IN,
    SLOT_W_OUT,
    SLOT_B_OUT,
    SLOT_LINEAR_W,
    SLOT_LINEAR_B,
    SLOT_LN1_W,
    SLOT_LN1_B,
    SLOT_LN2_W,
    SLOT_LN2_B,
    SLOTS_OF_LAYER,
    SLOT_W_E = SLOTS_OF_LAYER,
    SLOT_W_POS,
    SLOT_LN_FINAL_W,
    SLOT_LN_FINAL_B,
    SLOT_W_U,
    SLOT_B_U,
    SLOT_X,
    SLOT_X_HIDDEN,
    SLOT_WITNESS_LOGITS,
    SLOT_WITNESS_RESID,
    SLOTS_OF_FLOATS, /* what follows are integers */
    SLOT_TOKENS = SLOTS_OF_FLOATS,
    SLOT_WITNESS_TOKENS,
    SLOT_COUNT
} Slot;

/* Sets of slots. */
typedef uint64_t SlotSet;
#define SLOT_BIT(slot) ((SlotSet)1 << (slot))

#define BETAS (SLOT_BIT(SLOT_LN1_B) | SLOT_BIT(SLOT_LN2_B) | SLOT_BIT(SLOT_LN_FINAL_B))
#define BIASES                                                                                     \
    (BETAS | SLOT_BIT(SLOT_B_Q) | SLOT_BIT(SLOT_B_K) | SLOT_BIT(SLOT_B_V) | SLOT_BIT(SLOT_B_O) |   \
     SLOT_BIT(SLOT_B_GATE) | SLOT_BIT(SLOT_B_IN) | SLOT_BIT(SLOT_B_OUT))

typedef enum {
    EXTENT_NONE,
    EXTENT_D,
    EXTENT_HEADS,
    EXTENT_KEY_HEADS,
    EXTENT_D_HEAD,
    EXTENT_HIDDEN,
    EXTENT_OTHER,
    EXTENT_VOCABULARY,
    EXTENT_CONTEXT,
    EXTENT_WINDOW,
    EXTENT_CLASSES,
    EXTENT_ROWS,
    EXTENT_TUPLES,
    EXTENT_LENGTH,
    EXTENT_WINDOWS,
    EXTENT_SPAN,
    EXTENT_ANSWERS,
    EXTENT_COUNT
} Extent;

typedef struct {
    const char *symbol; /* as in model_file.h: "d_head" */
    size_t field;       /* offset of its size_t in ModelFile */
} ExtentInfo;

extern const ExtentInfo extent_infos[EXTENT_COUNT];

/* The model's field of an extent. */
size_t *model_size(ModelFile *model, Extent extent);

typedef struct {
    size_t field; /* offset of its pointer in ModelFileLayer, or in ModelFile */
    size_t rank;
    Extent shape[3];
} SlotInfo;

extern const SlotInfo slot_infos[SLOT_COUNT];

/* Extent `axis` of that tensor: in odd layers the linear maps lead back from other to d. */
Extent slot_extent(Slot slot, size_t layer, size_t axis);

#endif
