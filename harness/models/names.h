/*
 * What the names of a file's tensors say together (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_NAMES_H
#define HEADPROOF_HARNESS_MODELS_NAMES_H

#include "model_check.h"

typedef struct {
    size_t layers; /* one more than the largest layer */
    bool x;        /* it has an X */
    bool others;   /* it has something else, also where that is skipped */
} NamesFound;

/* Refuses what must not be in a model; known: its names are of a family.  0; 2 after a message; 99
 * when memory is short or the disk fails. */
int names_check(NamesFound *names, Reading *reading, bool known, const ModelFileFlags *flags)
    __attribute__((warn_unused_result));

/* Counts the layers, which must have no gaps, and are `said` where that is not 0.  Sets found, and
 * the model's depth.  0; 2 or 99 after a message. */
int names_find_layers(Reading *reading, const NamesFound *names, size_t said)
    __attribute__((warn_unused_result));

#endif
