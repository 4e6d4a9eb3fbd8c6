/*
 * Small models as safetensors files, number by number; nothing here uses the writer under test.
 */
#ifndef HEADPROOF_TESTS_WRITTEN_MODEL_H
#define HEADPROOF_TESTS_WRITTEN_MODEL_H

#include "scratch.h"

/* A tensor of doubles: its place in the file in bytes, from the first tensor's first. */
#define TENSOR(name, shape, first, end)                                                            \
    "\"" name "\":{\"dtype\":\"F64\",\"shape\":" shape ",\"data_offsets\":[" first "," end "]}"

/* Writes scratch/name: SiLU, scale 1, no mask, RMSNorms before the sublayers of a layer that has a
 * ln1; tensors: TENSORs, a comma between two. */
void written_model(const Scratch *scratch, const char *name, const char *tensors,
                   const double *data, size_t count);

#endif
