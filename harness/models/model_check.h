/*
 * A model file while it is read, step by step (private to the reading of model files).
 *
 * Umbrella header: for names.c, what the names of tensors say; architecture.c, models that are not
 * read at all; model_shape.c, shapes; properties.c, model_said.c and mask_buffer.c, what is said
 * beside; model_check.c, whether all that is a model; model_arrays.c, its numbers.
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H
#define HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H

#include "family.h"
#include "name_list.h"

#include <jansson.h>
#include <stddef.h>

/* What is said of a model beside its tensors, in metadata or a config.json: keys and words. */
enum { PROPERTIES_MOST = 32, PROPERTY_TEXT = 104 };

/* value is cut where it is longer than any that is known.  file, kind, name: who says it, for a
 * message: "FILE: metadata 'scale'". */
typedef struct {
    const char *key, *file, *kind, *name;
    char value[PROPERTY_TEXT];
} Property;

typedef struct {
    Property items[PROPERTIES_MOST];
    size_t count;
} Properties;

/* key and what says it stay the caller's; by's own value does not count.  0; 2 after a message
 * where another value was said before. */
int properties_add(Properties *properties, const Property *by, const char *value)
    __attribute__((warn_unused_result));

/* NULL: nobody says it. */
const Property *properties_find(const Properties *properties, const char *key);

/* A model while it is read. */
typedef struct {
    TensorSet *set;
    const ModelFileFlags *flags;
    const Family *family;
    ModelFile *model;
    SlotSet *found; /* [depth + 1] a layer's tensors, a SLOT_BIT each; the last: those of no
                        layer */
    const char *given_by[EXTENT_COUNT]; /* the tensor, or key of the config, that first had an
                                           extent */
    SlotSet required;                   /* what every file of the family has */
    bool norms;                         /* there is a tensor of a norm */
    Properties said;
    char *config_path;    /* of the config.json that would be beside the file */
    json_t *config;       /* what it says; NULL: there is none */
    const char *said_in;  /* it, or the set's path: where sizes are said, for a message */
    size_t depth;         /* as somebody says; 0: nobody does */
    const char *depth_by; /* the file that said it */
    size_t layers;        /* one more than the largest layer that a tensor names */
    bool x, others;       /* there is an X; and something else, also where that is skipped */
    NameList unknown;     /* keys that are in no table, which a witness has to outweigh */
    NameList ignored;     /* and those that were not to be read */
    bool typed;           /* model_type is said */
    bool witnessed;       /* there are answers of the model itself */
} Reading;

/* Refuses, by what it is and what of it is not supported, an architecture that no construction
 * covers: by what the config.json says, and, of a set that is open, by metadata and the names of
 * tensors, which have their kinds.  0, or 2 after a message. */
int architecture_check(const Reading *reading) __attribute__((warn_unused_result));

/* Is any of those slots in a layer, or behind the last? */
bool model_has_any(const Reading *reading, SlotSet slots);

/* Every tensor that another needs is there, and none that another excludes; layers are of one
 * kind.  Sets kind and merged of the model, and required and norms. */
int model_check_parts(Reading *reading) __attribute__((warn_unused_result));

/* Reads activation, scale, mask and norms, as far as metadata, config and family say them, and
 * refuses what contradicts itself or the tensors.  0, or 2 after a message. */
int model_said_read(Reading *reading) __attribute__((warn_unused_result));

/* What most tensors of a set, whose rows are known, have as the stream's width, and the first of
 * them; 0 and NULL: none has one.  One that lies transposed is refused by it, and not the others.
 * Returns how many agree. */
typedef struct {
    size_t width;
    const char *by;
} StreamWidth;

size_t stream_width(StreamWidth *voted, const TensorSet *set);

/* The shape of a tensor agrees with those before it; sets the sizes of the model it is the first
 * to have.  0, or 2 after a message. */
int model_shape_check(Reading *reading, const SetTensor *tensor)
    __attribute__((warn_unused_result));

/* shape [3] of that slot in the model; returns its rank. */
size_t model_shape(size_t *shape, ModelFile *model, Slot slot, size_t layer);

/* How many numbers it has there. */
size_t model_count(ModelFile *model, Slot slot, size_t layer);

/* Of a model whose sizes and properties are known: makes its layers and reads all arrays, and those
 * that follow from others: an unembedding that is the embedding, and the weights of folded norms.
 * 0; 2 after a message; 99 when the disk fails. */
int model_arrays_read(Reading *reading) __attribute__((warn_unused_result));

/* The arrays of a tensor of a layer, or of none, from its file. */
int model_array_fill(ModelFile *model, const SetTensor *found) __attribute__((warn_unused_result));

/* The model's array of any slot but SLOT_TOKENS. */
double **model_array(ModelFile *model, Slot slot, size_t layer);

/* May --ignore-extra skip a tensor of that name: does no model read it when it answers? */
bool name_is_harmless(const char *name);

/* Refuses what must not be in a model.  Sets layers, x, others and witnessed.  0, or 2 after a
 * message. */
int names_check(Reading *reading) __attribute__((warn_unused_result));

/* Counts the layers, which must have no gaps, and be as many as is said.  Sets found, and the
 * model's depth.  0, or 2 after a message. */
int names_find_layers(Reading *reading) __attribute__((warn_unused_result));

/* Reads every buffer: a mask is ones on and below the diagonal, causal, or ones alone, none, and
 * that becomes what is said of the model's mask.  0; 2 after a message; 99 when the disk fails. */
int mask_buffers_read(Reading *reading) __attribute__((warn_unused_result));

#endif
