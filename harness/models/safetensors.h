/*
 * Tensors in a file, in the safetensors format: an 8-byte little-endian length, that many bytes of
 * JSON (name -> dtype, shape, data_offsets; "__metadata__" -> strings), and the data.
 *
 * A file is checked whole before anything is used: nothing in it can make a read go outside it.
 * What is wrong gets one line on stderr that names the file, the tensor and what was expected, and
 * status 2.  Values are read from the disk when they are asked for, block by block; a file that
 * becomes shorter meanwhile is named (safetensors_values.h).
 */
#ifndef HEADPROOF_HARNESS_MODELS_SAFETENSORS_H
#define HEADPROOF_HARNESS_MODELS_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAFETENSORS_RANK_MOST 8
#define SAFETENSORS_NAME_MOST 255
#define SAFETENSORS_HEADER_MOST 100000000

typedef enum {
    SAFETENSORS_F64,
    SAFETENSORS_F32,
    SAFETENSORS_F16,
    SAFETENSORS_BF16,
    SAFETENSORS_I64,
    SAFETENSORS_I32,
    SAFETENSORS_I16,
    SAFETENSORS_I8,
    SAFETENSORS_U64,
    SAFETENSORS_U32,
    SAFETENSORS_U16,
    SAFETENSORS_U8,
    SAFETENSORS_BOOL,
    SAFETENSORS_DTYPES
} SafetensorsDtype;

typedef struct {
    const char *name; /* UTF-8 without control characters */
    SafetensorsDtype dtype;
    size_t rank, shape[SAFETENSORS_RANK_MOST];
    size_t count;      /* the product of shape [rank]; 1 for rank 0 */
    size_t begin, end; /* its bytes within the file's data: count little-endian values */
} SafetensorsTensor;

typedef struct SafetensorsFile SafetensorsFile;

/* A regular file, which stays open.  0, 2 or 99; on failure *file is NULL. */
int safetensors_open(SafetensorsFile **file, const char *path) __attribute__((warn_unused_result));

void safetensors_close(SafetensorsFile *file);

/* Is an open file still what it was?  By its size and the time that it was written, and, with
 * header, by its header too.  0; 2 after a message where it has changed, 99 where it cannot be
 * read. */
int safetensors_recheck(const SafetensorsFile *file, bool header)
    __attribute__((warn_unused_result));

const char *safetensors_path(const SafetensorsFile *file);

size_t safetensors_count(const SafetensorsFile *file);

/* In the order of their data; index < count. */
const SafetensorsTensor *safetensors_tensor(const SafetensorsFile *file, size_t index);

/* Is there a tensor of that name? */
bool safetensors_has(const SafetensorsFile *file, const char *name);

#endif
