/*
 * What is said of a model beside its tensors, brought together (private to the reading of model
 * files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_SAID_H
#define HEADPROOF_HARNESS_MODELS_MODEL_SAID_H

#include "model_check.h"

/* Reads activation, scale, mask and norms, as far as metadata, config and family say them, and
 * refuses what contradicts itself or the tensors.  0, or 2 after a message. */
int model_said_read(Reading *reading) __attribute__((warn_unused_result));

#endif
