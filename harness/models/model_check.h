/*
 * Whether the tensors of a file are a model (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H
#define HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H

#include "model_names.h"

/* found [depth + 1]: a SLOT_BIT for every tensor of a layer; the last is for those of none.
 * given_by: the tensor that first had an extent. */
typedef struct {
    const SafetensorsFile *file;
    ModelFile *model;
    unsigned *found;
    const char *given_by[EXTENT_COUNT];
} Reading;

/* The shape of a tensor agrees with those before it; sets the sizes of the model it is the first
 * to have.  0, or 2 after a message. */
int model_check_shape(Reading *reading, const SafetensorsTensor *tensor, Slot slot, size_t layer)
    __attribute__((warn_unused_result));

/* Every tensor that another needs is there, and none that another excludes; layers are of one
 * kind.  Sets kind and merged. */
int model_check_parts(Reading *reading) __attribute__((warn_unused_result));

/* Reads scale, activation, mask and normalization, as far as the metadata say them. */
int model_read_metadata(Reading *reading) __attribute__((warn_unused_result));

#endif
