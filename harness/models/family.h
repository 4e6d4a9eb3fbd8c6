/*
 * The tensors that a model may have: a table of shapes and where each goes; and what files call
 * them and how they lay them out (private to the reading of model files).
 *
 * A family is a table with a row for each tensor of a file, how it is called, what it becomes and
 * how it lies in the file.  A new family is a row of families.c, and a table there.  A name has a
 * row for each number of axes that its tensor may have.  Before a name may stand what wrappers of
 * PyTorch's put there, in any order: "module.", "_orig_mod.", "model.", "transformer.", "gpt_neox."
 *
 * Umbrella header: for model_names.c, shapes; families.c, the families; packing.c, layouts.
 */
#ifndef HEADPROOF_HARNESS_MODELS_FAMILY_H
#define HEADPROOF_HARNESS_MODELS_FAMILY_H

#include "model_file.h"
#include "tensor_set.h"

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
    size_t field; /* offset of its pointer in GivenLayer, or in ModelFile */
    size_t rank;
    Extent shape[3];
} SlotInfo;

extern const SlotInfo slot_infos[SLOT_COUNT];

/* Extent `axis` of that tensor: in odd layers the linear maps lead back from other to d. */
Extent slot_extent(Slot slot, size_t layer, size_t axis);

/* ---- Families -------------------------------------------------------------------------------- */

typedef struct TensorName {
    const char *name; /* of a layer's: what follows the layer's number and a dot */
    Slot slot;        /* the first of the slots in a row that it holds */
    unsigned parts;   /* how many these are */
    const char *axes; /* as below; NULL: as the slot is */
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
    const char *doubted; /* a hidden_act that is believed beside a witness alone, or NULL */
    /* The words of model_type and of architectures, with blanks between; NULL: the table of keys
     * has them. */
    const char *types, *programs;
    const char *partial;  /* the key without which nobody knows how much of a head turns */
    FamilyWords *implied; /* what every model of the family is, or NULL */
    FamilyWords *usual;   /* what its programs make, believed where a witness shows it, or NULL */
} Family;

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

/* ---- Layouts ---------------------------------------------------------------------------------
 *
 * How a file lays a tensor out: transposed, with heads side by side, with queries, keys and values
 * in one.
 *
 * A layout is a text with a word for each axis of the file's tensor.  A word lists what the axis
 * runs over, slowest first: the digit k is axis k of the model's own tensor, p the part,
 * u nothing: the axis has one entry; k is axis 0, of which the file has one entry for every few
 * in a row (Packing.shared) that are the same.
 *
 *   "0 1"    as the model has it               "1 0"    transposed
 *   "01 2"   [heads d_head, d], of [heads, d_head, d]
 *   "u 0 1"  [1, context, d], of [context, d]
 *   "k2 1"   [heads / shared d_head, d], of [heads, d, d_head]
 *   "1 p02"  [d, parts heads d_head], of as many tensors [heads, d, d_head] as there are parts
 */

/* Axes of the file's tensor. */
size_t packing_rank(const char *axes);

/* The first letter of the word for that axis, which is below the rank; a space or the end follows
 * the last. */
const char *packing_word(const char *axes, size_t axis);

/* Is it the model's own layout, but for axes that are merged?  Then nothing has to be moved. */
bool packing_is_plain(const char *axes);

enum { PARTS_MOST = 4, SHAPE_MOST = 3 };

/* What a file's tensor becomes: as many tensors of shape [rank] as there are parts. */
typedef struct {
    const char *axes;
    size_t parts, rank, shape[SHAPE_MOST];
    size_t shared;           /* entries of axis 0 that are one in the file, where `axes` has a k */
    double *out[PARTS_MOST]; /* [parts] */
} Packing;

/* out gets the file's values first, ..., first + count - 1, in its order, which are in `packed`
 * [count]; of entries that share one the first. */
void packing_unpack(const Packing *packing, const double *packed, size_t first, size_t count);

#endif
