/*
 * Masks that a model keeps as buffers beside its weights (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MASK_BUFFER_H
#define HEADPROOF_HARNESS_MODELS_MASK_BUFFER_H

#include "model_check.h"

/* Reads every buffer: a mask is ones on and below the diagonal, causal, or ones alone, none, and
 * that becomes what is said of the model's mask.  0; 2 after a message; 99 when memory is short or
 * the disk fails. */
int mask_buffers_read(Reading *reading) __attribute__((warn_unused_result));

#endif
