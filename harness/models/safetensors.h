/*
 * Tensors in a file, in the safetensors format: an 8-byte little-endian length, that many bytes of
 * JSON (name -> dtype, shape, data_offsets; "__metadata__" -> strings), and the data.
 *
 * A file is checked whole before anything is used: nothing in it can make a read go outside it.
 * What is wrong gets one line on stderr that names the file, the tensor and what was expected, and
 * status 2.  Values are read from the disk when they are asked for, block by block; a file that
 * becomes shorter meanwhile is named.
 *
 * Umbrella header: for safetensors_values.c, the formats of numbers (dtypes), each read exactly.
 */
#ifndef HEADPROOF_HARNESS_MODELS_SAFETENSORS_H
#define HEADPROOF_HARNESS_MODELS_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

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

typedef struct {
    char *path;
    int fd;
    size_t size;
    struct json_t *header;      /* owns names and metadata */
    SafetensorsTensor *tensors; /* [count], in the order of their data */
    size_t count;
    size_t data_begin, data_size; /* what follows the header */
    uint64_t digest;              /* of the header's text */
    struct timespec modified;     /* when it was opened */
} SafetensorsFile;

/* A regular file, which stays open.  0, 2 or 99; on failure *file is NULL. */
int safetensors_open(SafetensorsFile **file, const char *path) __attribute__((warn_unused_result));

/* NULL is fine. */
void safetensors_close(SafetensorsFile *file);

/* Is an open file still what it was?  By its size and the time that it was written, and, with
 * header, by its header too.  0; 2 after a message where it has changed, 99 where it cannot be
 * read. */
int safetensors_recheck(const SafetensorsFile *file, bool header)
    __attribute__((warn_unused_result));

/* Is there a tensor of that name? */
bool safetensors_has(const SafetensorsFile *file, const char *name);

/* ---- Values ---------------------------------------------------------------------------------- */

/* name: as the format calls it, "F64"; size: bytes of one value. */
typedef struct {
    const char *name;
    size_t size;
    bool is_float, is_signed;
} SafetensorsFormat;

extern const SafetensorsFormat safetensors_dtypes[SAFETENSORS_DTYPES];

/* out [count]: F64, F32, F16 or BF16, exactly.  Status 2 for another dtype, for a NaN or an
 * infinity, which is named by its index, and where the file has become shorter; 99 where it cannot
 * be read. */
int safetensors_floats(double *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

/* Values that are read at once, from `first` on. */
size_t safetensors_block(const SafetensorsTensor *tensor, size_t first);
#define SAFETENSORS_BLOCK_MOST (1 << 13)

/* out [safetensors_block]: those alone, from several threads at once; silent: without a message. */
int safetensors_block_floats(double *out, const SafetensorsFile *file,
                             const SafetensorsTensor *tensor, size_t first, bool silent)
    __attribute__((warn_unused_result));

/* *value: the first of a tensor of such a dtype that has any, an infinity too; or NaN. */
int safetensors_first(double *value, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

/* out [count]: any integer dtype, BOOL as 0 and 1.  Status 2 for another dtype, for a value that
 * int64_t does not hold, and where the file has become shorter; 99 where it cannot be read. */
int safetensors_integers(int64_t *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

/* "(2, 0, 17)", the index of value number `position`; "[4, 64, 16]", a shape. */
typedef struct {
    char text[SAFETENSORS_RANK_MOST * 22 + 3];
} SafetensorsTuple;

SafetensorsTuple safetensors_index(const SafetensorsTensor *tensor, size_t position);
SafetensorsTuple safetensors_shape(const SafetensorsTensor *tensor);

/* bytes [size] = the file's from offset on.  0; 2 after a message where the file ends before; 99
 * after one where it cannot be read; silent: 2 alone. */
int safetensors_bytes(unsigned char *bytes, const SafetensorsFile *file, size_t offset, size_t size,
                      bool silent) __attribute__((warn_unused_result));

/* The little-endian integer of `size` (at most 8) bytes. */
uint64_t little_endian(const unsigned char *bytes, size_t size);

#endif
