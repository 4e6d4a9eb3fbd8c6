/*
 * The numbers of a model, brought from its files into its arrays (private to the reading of model
 * files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_ARRAYS_H
#define HEADPROOF_HARNESS_MODELS_MODEL_ARRAYS_H

#include "model_check.h"

/* Of a model whose sizes and properties are known: makes its layers and reads all arrays, and those
 * that follow from others: an unembedding that is the embedding, and the weights of folded norms.
 * 0; 2 after a message; 99 when memory is short or the disk fails. */
int model_arrays_read(Reading *reading) __attribute__((warn_unused_result));

/* The arrays of a tensor of a layer, or of none, from its file. */
int model_array_fill(ModelFile *model, const SetTensor *found, const TensorName *entry,
                     size_t layer) __attribute__((warn_unused_result));

/* The model's array of any slot but SLOT_TOKENS. */
double **model_array(ModelFile *model, Slot slot, size_t layer);

#endif
