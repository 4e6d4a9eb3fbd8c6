/*
 * Tensors in a file, in the safetensors format: an 8-byte little-endian length, that many bytes of
 * JSON (name -> dtype, shape, data_offsets; "__metadata__" -> strings), and the data.
 *
 * Reading: a file is checked whole before anything is used: nothing in it can make a read go
 * outside it.  What is wrong gets one line on stderr that names the file, the tensor and what was
 * expected, and status 2; 99 when memory is short.  A file stays mapped while it is open: who
 * shortens it meanwhile ends the process.
 */
#ifndef HEADPROOF_HARNESS_MODELS_SAFETENSORS_H
#define HEADPROOF_HARNESS_MODELS_SAFETENSORS_H

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

/* count: the product of shape [rank] (1 for rank 0).  data: count little-endian values, at any
 * alignment.  begin, end: where they are in the file's data.  name: UTF-8 without control
 * characters. */
typedef struct {
    const char *name;
    SafetensorsDtype dtype;
    size_t rank, shape[SAFETENSORS_RANK_MOST];
    size_t count, begin, end;
    const unsigned char *data;
} SafetensorsTensor;

typedef struct SafetensorsFile SafetensorsFile;

/* As the format calls it: "F64". */
const char *safetensors_dtype_name(SafetensorsDtype dtype);

/* Bytes of one value. */
size_t safetensors_dtype_size(SafetensorsDtype dtype);

/* A regular file, mapped.  0, 2 or 99; on failure *file is NULL. */
int safetensors_open(SafetensorsFile **file, const char *path) __attribute__((warn_unused_result));

/* The same from memory, which stays the caller's and must outlive *file.  path: what messages
 * call it. */
int safetensors_parse(SafetensorsFile **file, const char *path, const void *bytes, size_t size)
    __attribute__((warn_unused_result));

void safetensors_close(SafetensorsFile *file);

const char *safetensors_path(const SafetensorsFile *file);

size_t safetensors_count(const SafetensorsFile *file);

/* In the order of their data; index < count. */
const SafetensorsTensor *safetensors_tensor(const SafetensorsFile *file, size_t index);

/* NULL when there is none of that name. */
const SafetensorsTensor *safetensors_find(const SafetensorsFile *file, const char *name);

/* NULL when there is no such key. */
const char *safetensors_metadata(const SafetensorsFile *file, const char *key);

/* out [count]: F64, F32, F16 or BF16, exactly.  Status 2 for another dtype, and for a NaN or an
 * infinity, which is named by its index. */
int safetensors_floats(double *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

/* out [count]: any integer dtype, BOOL as 0 and 1.  Status 2 for another dtype and for a value
 * that int64_t does not hold. */
int safetensors_integers(int64_t *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

#define SAFETENSORS_TUPLE_MOST (SAFETENSORS_RANK_MOST * 22 + 3)

/* text [SAFETENSORS_TUPLE_MOST] = "(2, 0, 17)", the index of value number `position`. */
void safetensors_index_text(char *text, const SafetensorsTensor *tensor, size_t position);

/* text [SAFETENSORS_TUPLE_MOST] = "[4, 64, 16]". */
void safetensors_shape_text(char *text, size_t rank, const size_t *shape);

/*
 * Writing: tensors and metadata are announced, and then written at once.  Data stay the caller's
 * and may be NULL while only the size is wanted.  Names are unique, printable ASCII without
 * quotes and backslashes, not "__metadata__", at most SAFETENSORS_NAME_MOST long, and rank at
 * most SAFETENSORS_RANK_MOST: anything else is a bug and aborts.
 */
typedef struct SafetensorsWriter SafetensorsWriter;

/* NULL after a message when memory is short. */
SafetensorsWriter *safetensors_writer_make(void) __attribute__((warn_unused_result));

/* key, value: UTF-8, each key once.  0, or 99 after a message. */
int safetensors_writer_metadata(SafetensorsWriter *writer, const char *key, const char *value)
    __attribute__((warn_unused_result));

/* F64, or I64: data [product of shape].  0; 2 after a message when a file could not be that large;
 * 99 after one when memory is short.  NaN and infinities are written as they are. */
int safetensors_writer_floats(SafetensorsWriter *writer, const char *name, size_t rank,
                              const size_t *shape, const double *data)
    __attribute__((warn_unused_result));
int safetensors_writer_integers(SafetensorsWriter *writer, const char *name, size_t rank,
                                const size_t *shape, const int64_t *data)
    __attribute__((warn_unused_result));

/* The size of the file, exactly. */
uint64_t safetensors_writer_bytes(const SafetensorsWriter *writer);

/* Writes path, which appears complete or not at all (atomic_file.h).  0; 2 after a message when
 * path cannot be written, or names and metadata exceed SAFETENSORS_HEADER_MOST bytes; 99 after one when memory is short or the disk is full. */
int safetensors_writer_finish(const SafetensorsWriter *writer, const char *path)
    __attribute__((warn_unused_result));

void safetensors_writer_clear(SafetensorsWriter *writer);

#endif
