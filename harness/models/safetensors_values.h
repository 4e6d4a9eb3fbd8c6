/*
 * The values of a tensor: the formats of numbers (dtypes), each read exactly.
 */
#ifndef HEADPROOF_HARNESS_MODELS_SAFETENSORS_VALUES_H
#define HEADPROOF_HARNESS_MODELS_SAFETENSORS_VALUES_H

#include "safetensors.h"

/* As the format calls it: "F64". */
const char *safetensors_dtype_name(SafetensorsDtype dtype);

/* Bytes of one value. */
size_t safetensors_dtype_size(SafetensorsDtype dtype);

/* out [count]: F64, F32, F16 or BF16, exactly.  Status 2 for another dtype, for a NaN or an
 * infinity, which is named by its index, and where the file has become shorter; 99 where it cannot
 * be read. */
int safetensors_floats(double *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

/* Values that are read at once, from `first` on. */
size_t safetensors_block(const SafetensorsTensor *tensor, size_t first);

/* out [safetensors_block]: those, exactly; false, without a message: safetensors_floats says what
 * is wrong.  From several threads at once. */
bool safetensors_try(double *out, const SafetensorsFile *file, const SafetensorsTensor *tensor,
                     size_t first);

#define SAFETENSORS_BLOCK_MOST (1 << 13)

/* *value: the first of a tensor of such a dtype that has any, an infinity too; or NaN. */
int safetensors_first(double *value, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

/* out [count]: any integer dtype, BOOL as 0 and 1.  Status 2 for another dtype, for a value that
 * int64_t does not hold, and where the file has become shorter; 99 where it cannot be read. */
int safetensors_integers(int64_t *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
    __attribute__((warn_unused_result));

#define SAFETENSORS_TUPLE_MOST (SAFETENSORS_RANK_MOST * 22 + 3)

/* text [SAFETENSORS_TUPLE_MOST] = "(2, 0, 17)", the index of value number `position`. */
void safetensors_index_text(char *text, const SafetensorsTensor *tensor, size_t position);

/* text [SAFETENSORS_TUPLE_MOST] = "[4, 64, 16]". */
void safetensors_shape_text(char *text, size_t rank, const size_t *shape);

/* bytes [size] = the file's from offset on.  0; 2 after a message where the file ends before; 99
 * after one where it cannot be read. */
int safetensors_bytes(unsigned char *bytes, const SafetensorsFile *file, size_t offset, size_t size)
    __attribute__((warn_unused_result));

/* The little-endian integer of `size` (at most 8) bytes. */
uint64_t little_endian(const unsigned char *bytes, size_t size);

#endif
