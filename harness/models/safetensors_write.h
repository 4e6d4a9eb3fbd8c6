/*
 * A safetensors file written: tensors and metadata are announced, and then written at once.
 *
 * Data stay the caller's.  Names are unique, printable ASCII without quotes and backslashes, not
 * "__metadata__", at most SAFETENSORS_NAME_MOST long, and rank at most SAFETENSORS_RANK_MOST:
 * anything else is a bug and aborts.
 */
#ifndef HEADPROOF_HARNESS_MODELS_SAFETENSORS_WRITE_H
#define HEADPROOF_HARNESS_MODELS_SAFETENSORS_WRITE_H

#include "safetensors.h"

typedef struct SafetensorsWriter SafetensorsWriter;

SafetensorsWriter *safetensors_writer_make(void) __attribute__((warn_unused_result));

/* key, value: UTF-8, each key once. */
void safetensors_writer_metadata(SafetensorsWriter *writer, const char *key, const char *value);

/* F64: data [product of shape], row-major, or where strides are given, of a tensor of rank 1, 2 or
 * 3, entry (i, j, k) data[i * stride[0] + j * stride[1] + k * stride[2]]; or the values of small
 * integers.  0; 2 after a message when a file could not be that large.  The writer keeps that:
 * behind it these add nothing, and finish returns it.  NaN and infinities are written as they
 * are. */
int safetensors_writer_floats(SafetensorsWriter *writer, const char *name, size_t rank,
                              const size_t *shape, const size_t *stride, const double *data);
int safetensors_writer_small(SafetensorsWriter *writer, const char *name, size_t rank,
                             const size_t *shape, const signed char *data);

/* Data that are not there all the time: tensors announced from now on are of that part, which show
 * (NULL: all stay) is asked for before they are written, and SIZE_MAX, at first, is none: of those
 * whose data stay.
 * show returns 0, or an exit code after a message. */
typedef int SafetensorsShow(void *context, size_t part);
void safetensors_writer_show(SafetensorsWriter *writer, SafetensorsShow *show, void *context);
void safetensors_writer_part(SafetensorsWriter *writer, size_t part);

int safetensors_writer_status(const SafetensorsWriter *writer);

/* Bytes of the tensors announced so far. */
uint64_t safetensors_writer_bytes(const SafetensorsWriter *writer);

/* Writes path, which appears complete or not at all (atomic_file.h).  0; what failed before; 2
 * after a message when path cannot be written, or names and metadata exceed SAFETENSORS_HEADER_MOST
 * bytes; 99 after one when the disk is full; what show returns. */
int safetensors_writer_finish(const SafetensorsWriter *writer, const char *path)
    __attribute__((warn_unused_result));

void safetensors_writer_clear(SafetensorsWriter *writer);

#endif
