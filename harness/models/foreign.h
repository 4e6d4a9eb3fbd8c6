/*
 * Models of other architectures, told by what of them does not fit (private to the reading of model
 * files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_FOREIGN_H
#define HEADPROOF_HARNESS_MODELS_FOREIGN_H

#include "model_check.h"

/* Of a file whose names are of no family: refuses what can be told from shapes, or from a
 * config.json beside it.  0: nothing; 2 after a message, also where that is no config; 99 when
 * memory is short or the disk fails. */
int foreign_check(Reading *reading, const ModelFileFlags *flags)
    __attribute__((warn_unused_result));

#endif
