/*
 * The header of a safetensors file, and what an open file is (private to the reading of one).
 */
#ifndef HEADPROOF_HARNESS_MODELS_SAFETENSORS_HEADER_H
#define HEADPROOF_HARNESS_MODELS_SAFETENSORS_HEADER_H

#include "safetensors.h"

#include <jansson.h>
#include <time.h>

struct SafetensorsFile {
    char *path;
    int fd;
    size_t size;
    json_t *header;             /* owns names and metadata */
    SafetensorsTensor *tensors; /* [count], in the order of their data */
    size_t count;
    size_t data_begin, data_size; /* what follows the header */
    uint64_t digest;              /* of the header's text */
    struct timespec modified;     /* when it was opened */
};

/* Reads and checks the header; sets header, tensors, count, data_begin and data_size, also what of
 * them there is on failure.  0; 2 or 99 after a message. */
int safetensors_read_header(SafetensorsFile *file) __attribute__((warn_unused_result));

/* Reads it once more: 2 after a message where it is another. */
int safetensors_reread_header(const SafetensorsFile *file) __attribute__((warn_unused_result));

/* The message that a file is no longer what was opened; returns 2. */
int safetensors_refuse_change(const SafetensorsFile *file);

#endif
