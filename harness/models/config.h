/*
 * A model's config.json, read by the keys that its family knows (private to the reading of model
 * files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_CONFIG_H
#define HEADPROOF_HARNESS_MODELS_CONFIG_H

#include "model_check.h"

/* Reads the config.json beside the file, if there is one and the family has any: sizes of the
 * model, its depth as *depth (0: it says nothing), and properties.  0; 2 after one message; 99 when
 * memory is short or the disk fails. */
int config_read(Reading *reading, size_t *depth) __attribute__((warn_unused_result));

/* Of a file of no family: refuses a config.json that says which part of its architecture does not
 * fit.  0; 2 after that message, also where it is no config. */
int config_check_foreign(const Reading *reading) __attribute__((warn_unused_result));

#endif
