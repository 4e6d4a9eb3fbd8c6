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

/* *config: the object in it, which the caller releases; NULL: there is none. */
int config_open(json_t **config, const Reading *reading) __attribute__((warn_unused_result));

/* "CONFIG: key 'KEY': VALUE: expected EXPECTED: WHY", VALUE as JSON; why may be NULL.  Returns
 * 2. */
int config_refuse(const Reading *reading, const char *key, const json_t *value,
                  const char *expected, const char *why);

#endif
