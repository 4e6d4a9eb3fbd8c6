/*
 * Whether the tensors of a file are a model (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H
#define HEADPROOF_HARNESS_MODELS_MODEL_CHECK_H

#include "model_names.h"

/* A model while it is read. */
typedef struct {
    const SafetensorsFile *file;
    ModelFile *model;
    unsigned *found;                    /* [depth + 1] a layer's tensors, a SLOT_BIT each; the last:
                                           those of no layer */
    const char *given_by[EXTENT_COUNT]; /* the tensor that first had an extent */
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
