/*
 * What a config.json beside a model, the metadata of its files and the command line say of it, key
 * by key (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_KEYS_H
#define HEADPROOF_HARNESS_MODELS_KEYS_H

#include "model_check.h"

/* Reads all that is said: sizes of the model, its depth as *depth (0: nobody says it), and
 * properties.  Refuses a key that is not known, in one message for all of them; of a model with a
 * witness they become its `doubts` instead.  0; 2 after one message; 99 when memory is short or the
 * disk fails. */
int keys_read(Reading *reading, size_t *depth, const ModelFileFlags *flags)
    __attribute__((warn_unused_result));

/* Of a model whose names are of no family: refuses by a key that says what is in its way. */
int keys_refuse_foreign(Reading *reading, const ModelFileFlags *flags)
    __attribute__((warn_unused_result));

#endif
