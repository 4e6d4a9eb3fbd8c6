/*
 * JSON files beside tensors: what is too large, no regular file or no object is refused in one
 * message (private to the reading of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_JSON_FILE_H
#define HEADPROOF_HARNESS_MODELS_JSON_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* *root: the object in a regular file of at most `most` bytes, which the caller releases.
 * optional: where there is no such file *root is NULL, and that is no fault.  0; 2 after a message;
 * 99 after one when the disk fails. */
int json_file_read(json_t **root, const char *path, size_t most, bool optional)
    __attribute__((warn_unused_result));

#endif
