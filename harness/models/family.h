/*
 * Names of tensors: a family is a table with a row for each tensor of a file, how it is called,
 * what it becomes and how it lies in the file (private to the reading of model files).
 *
 * A new family is a row of families.c, and a table there.  A name has a row for each number of axes
 * that its tensor may have.  Before a name may stand what
 * wrappers of PyTorch's put there: "module.", "_orig_mod.", "model.", "transformer.", "gpt_neox.",
 * in any order.
 */
#ifndef HEADPROOF_HARNESS_MODELS_FAMILY_H
#define HEADPROOF_HARNESS_MODELS_FAMILY_H

#include "model_names.h"
#include "tensor_set.h"

typedef struct TensorName {
    const char *name; /* of a layer's: what follows the layer's number and a dot */
    Slot slot;        /* the first of the slots in a row that it holds */
    unsigned parts;   /* how many these are */
    const char *axes; /* as packing.h has it; NULL: as the slot is */
    bool required;    /* every file of the family has it; others the rules of model_check.h need */
} TensorName;

/* Properties of a model and their values, up to a key of NULL. */
typedef const char *const FamilyWords[2];

typedef struct {
    const char *title;          /* "TransformerLens" */
    const char *layer;          /* what a layer's number follows, with its dot */
    const TensorName *names;    /* up to one without a name; inputs and a witness are in all */
    const char *const *buffers; /* of a layer, which hold no weights; up to NULL */
    bool tied;                  /* without an unembedding it is the embedding, transposed */
    bool splits;                /* heads, side by side, split the stream's columns evenly */
    bool one_norm;              /* both parts of a layer read through its first norm */
    bool shares;                /* several queries may share a key and a value */
    bool windowed;              /* its programs read a window of keys */
    bool from_one;              /* weights of norms are what is to be added to 1 */
    bool scaled;  /* embeddings are multiplied by sqrt(d), as their format has that number */
    bool by_type; /* others have the same names: model_type says which it is */
    double theta; /* rope_theta where nobody says it, but model_type is said; 0: it has to be */
    /* The words of model_type and of architectures, with blanks between; NULL: the table of keys
     * has them. */
    const char *types, *programs;
    const char *partial;  /* the key without which nobody knows how much of a head turns */
    FamilyWords *implied; /* what every model of the family is, or NULL */
    FamilyWords *usual;   /* what its programs make, believed where a witness shows it, or NULL */
} Family;

/* The beginning of the names of a witness. */
#define WITNESS_PREFIX "witness."

/* All of them; the first is what a file is of whose names no family has. */
enum { FAMILY_COUNT = 12 };
extern const Family families[FAMILY_COUNT];

/* The family that has most of the names; of families with the same names the one as whose most
 * tensors agree on the stream's width, and of those the one whose model_type is said (NULL: none
 * is).  The set's tensors get their kinds (NAME_HARMLESS: see model_check.h), rows and layers. */
const Family *family_of(TensorSet *set, const char *type);

/* Its layout. */
const char *tensor_axes(const TensorName *entry);

/* The family's name for the tensor that holds a slot, without its layer; it has one. */
const char *family_slot_name(const Family *family, Slot slot);

/* "blocks.{layer}" */
typedef struct {
    char text[48];
} LayerName;

LayerName family_layer_name(const Family *family, size_t layer);

#endif
