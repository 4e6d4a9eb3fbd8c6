/*
 * The shapes of tensors as a file has them (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_SHAPE_H
#define HEADPROOF_HARNESS_MODELS_MODEL_SHAPE_H

#include "model_check.h"

/* The shape of a tensor agrees with those before it; sets the sizes of the model it is the first
 * to have.  0, or 2 after a message. */
int model_shape_check(Reading *reading, const SetTensor *tensor, const TensorName *entry,
                      size_t layer) __attribute__((warn_unused_result));

/* shape [3] of that slot in the model; returns its rank. */
size_t model_shape(size_t *shape, ModelFile *model, Slot slot, size_t layer);

#endif
