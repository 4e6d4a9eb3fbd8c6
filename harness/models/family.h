/*
 * Names of tensors: a family is a table with a row for each tensor of a file, how it is called,
 * what it becomes and how it lies in the file (private to the reading of model files).
 *
 * A new family is a file family_NAME.c with its table, and its name in both lines below.
 */
#ifndef HEADPROOF_HARNESS_MODELS_FAMILY_H
#define HEADPROOF_HARNESS_MODELS_FAMILY_H

#include "model_names.h"
#include "tensor_set.h"

typedef struct TensorName {
    const char *name; /* of a layer's: what follows the layer's number and a dot */
    Slot slot;        /* the first of `parts` slots in a row that it holds */
    unsigned parts;   /* 0: one */
    const char *axes; /* as packing.h has it; NULL: as the slot is */
    bool required;    /* every file of the family has it; others the rules of model_check.h need */
} TensorName;

typedef struct {
    const char *title;          /* "TransformerLens" */
    const char *prefix;         /* what any name may have in front, "" or with its dot */
    const char *layer;          /* what a layer's number follows, with its dot */
    const TensorName *names;    /* up to one without a name */
    const char *const *buffers; /* of a layer, which hold no weights; up to NULL */
    bool tied;                  /* without an unembedding it is the embedding, transposed */
    bool splits;                /* heads, side by side, split the stream's columns evenly */
    /* Keys and values that its models imply, up to a key of NULL. */
    const char *const (*implied)[2];
} Family;

/* The beginning of the names of a witness. */
#define WITNESS_PREFIX "witness."

/* Tensors of the model's own answers, under the same names in every family. */
#define WITNESS_NAMES                                                                              \
    {"witness.tokens", SLOT_WITNESS_TOKENS, 1, NULL, false},                                       \
        {"witness.logits", SLOT_WITNESS_LOGITS, 1, NULL, false},                                   \
    {                                                                                              \
        "witness.resid", SLOT_WITNESS_RESID, 1, NULL, false                                        \
    }

/* All of them, family_NAME in family_NAME.c each. */
extern const Family family_lens, family_gpt2;
#define FAMILIES &family_lens, &family_gpt2

/* The family that has most of the names, or family_lens where none has any: *known.  The set's
 * tensors get their kinds (NAME_STRUCTURE: see model_check.h), rows and layers. */
const Family *family_of(bool *known, TensorSet *set);

/* Its layout, and how many slots it holds. */
const char *tensor_axes(const TensorName *entry);
size_t tensor_parts(const TensorName *entry);

/* The family's name for the tensor that holds a slot, without prefix and layer; it has one. */
const char *family_slot_name(const Family *family, Slot slot);

/* The longest "blocks.{l}", and its end. */
#define LAYER_NAME_MOST 48

/* text [LAYER_NAME_MOST] = "blocks.{layer}" */
void family_layer_name(char *text, const Family *family, size_t layer);

#endif
