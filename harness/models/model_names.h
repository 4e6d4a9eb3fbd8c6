/*
 * The tensors a model file may hold: one table of names, shapes and where each goes (private to
 * the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_NAMES_H
#define HEADPROOF_HARNESS_MODELS_MODEL_NAMES_H

#include "model_file.h"

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
    SLOT_W_IN,
    SLOT_B_IN,
    SLOT_W_OUT,
    SLOT_B_OUT,
    SLOT_LINEAR_W,
    SLOT_LINEAR_B,
    SLOTS_OF_LAYER,
    SLOT_W_E = SLOTS_OF_LAYER,
    SLOT_W_POS,
    SLOT_W_U,
    SLOT_B_U,
    SLOT_X,
    SLOT_X_HIDDEN,
    SLOT_TOKENS,
    SLOT_COUNT
} Slot;

#define SLOT_BIT(slot) (1U << (slot))

typedef enum {
    EXTENT_NONE,
    EXTENT_D,
    EXTENT_HEADS,
    EXTENT_D_HEAD,
    EXTENT_HIDDEN,
    EXTENT_OTHER,
    EXTENT_VOCABULARY,
    EXTENT_CONTEXT,
    EXTENT_CLASSES,
    EXTENT_ROWS,
    EXTENT_TUPLES,
    EXTENT_LENGTH,
    EXTENT_COUNT
} Extent;

typedef struct {
    const char *symbol; /* as in model_file.h: "d_head" */
    size_t field;       /* offset of its size_t in ModelFile */
} ExtentInfo;

/* 0 < extent < EXTENT_COUNT. */
const ExtentInfo *extent_info(Extent extent);

typedef struct {
    const char *name; /* of a layer's: what follows "blocks.{l}." */
    size_t field;     /* offset of its pointer in ModelFileLayer, or in ModelFile */
    size_t rank;
    Extent shape[3];
} SlotInfo;

/* slot < SLOT_COUNT. */
const SlotInfo *slot_info(Slot slot);

/* Extent `axis` of that tensor: in odd layers the linear maps lead back from other to d. */
Extent slot_extent(Slot slot, size_t layer, size_t axis);

/* The longest "blocks.{l}" or name of a slot, and its end. */
#define SLOT_NAME_MOST 48

typedef enum { NAME_SLOT, NAME_BUFFER, NAME_STRUCTURE, NAME_UNKNOWN } NameKind;

/* What a name means (NAME_STRUCTURE: see model_structure.h); NAME_SLOT sets *slot and *layer (0
 * for those of no layer). */
NameKind name_classify(Slot *slot, size_t *layer, const char *name);

#endif
