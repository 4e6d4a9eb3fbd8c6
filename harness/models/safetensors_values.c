/*
 * Tensor values read exactly from F64, F32, F16, BF16 and integers.
 */
#include "safetensors.h"

#include "../base/message.h"
#include "regular_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(double) == 8 && sizeof(float) == 4, "IEEE formats are copied bit by bit");

const SafetensorsFormat safetensors_dtypes[SAFETENSORS_DTYPES] = {
    [SAFETENSORS_F64] = {"F64", 8, true, true},     [SAFETENSORS_F32] = {"F32", 4, true, true},
    [SAFETENSORS_F16] = {"F16", 2, true, true},     [SAFETENSORS_BF16] = {"BF16", 2, true, true},
    [SAFETENSORS_I64] = {"I64", 8, false, true},    [SAFETENSORS_I32] = {"I32", 4, false, true},
    [SAFETENSORS_I16] = {"I16", 2, false, true},    [SAFETENSORS_I8] = {"I8", 1, false, true},
    [SAFETENSORS_U64] = {"U64", 8, false, false},   [SAFETENSORS_U32] = {"U32", 4, false, false},
    [SAFETENSORS_U16] = {"U16", 2, false, false},   [SAFETENSORS_U8] = {"U8", 1, false, false},
    [SAFETENSORS_BOOL] = {"BOOL", 1, false, false},
};

uint64_t little_endian(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static double from_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double from_f32(uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    return (double)value;
}

/* 1 sign, 5 exponent (bias 15), 10 fraction bits; subnormals are multiples of 2^-24. */
static double from_f16(uint64_t bits)
{
    uint64_t sign = bits >> 15 << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) {
        double magnitude = (double)fraction * 0x1p-24;
        return sign != 0 ? -magnitude : magnitude;
    }
    exponent = exponent == 31 ? 2047 : exponent - 15 + 1023;
    return from_f64(sign | exponent << 52 | fraction << 42);
}

/* out [count]: little-endian values of a floating format. */
static void convert(double *out, const unsigned char *bytes, SafetensorsDtype dtype, size_t count)
{
    size_t size = safetensors_dtypes[dtype].size;
    for (size_t i = 0; dtype == SAFETENSORS_F32 && i < count; i++) {
        out[i] = from_f32(little_endian(bytes + i * 4, 4));
    }
    for (size_t i = 0; dtype != SAFETENSORS_F32 && i < count; i++) {
        uint64_t bits = little_endian(bytes + i * size, size);
        out[i] = dtype == SAFETENSORS_F64   ? from_f64(bits)
                 : dtype == SAFETENSORS_F16 ? from_f16(bits)
                                            : from_f32(bits << 16);
    }
}

static int refuse_dtype(const SafetensorsFile *file, const SafetensorsTensor *tensor,
                        const char *expected)
{
    return complain_of(file->path, "tensor", tensor->name, "dtype %s: expected %s",
                       safetensors_dtypes[tensor->dtype].name, expected);
}

static int refuse_value(const SafetensorsFile *file, const SafetensorsTensor *tensor,
                        size_t position, const char *fault)
{
    return complain_of(file->path, "tensor", tensor->name, "index %s: %s",
                       safetensors_index(tensor, position).text, fault);
}

int safetensors_bytes(unsigned char *bytes, const SafetensorsFile *file, size_t offset, size_t size,
                      bool silent)
{
    int error;
    size_t done = regular_file_read(bytes, file->fd, offset, size, &error);
    if (silent && done < size) {
        return 2;
    }
    if (error != 0) {
        return regular_file_unreadable(file->path, error);
    }
    if (done < size) {
        return complain_of(
            file->path, NULL, NULL,
            "nothing at byte %zu: expected the %zu bytes there were when it was opened",
            offset + done, file->size);
    }
    return 0;
}

/* Bytes that are read at a time. */
enum { BLOCK = 1 << 14 };

/* Of a tensor's values. */
static size_t offset_of(const SafetensorsFile *file, const SafetensorsTensor *tensor, size_t first)
{
    return file->data_begin + tensor->begin + first * safetensors_dtypes[tensor->dtype].size;
}

size_t safetensors_block(const SafetensorsTensor *tensor, size_t first)
{
    size_t left = tensor->count - first, most = BLOCK / safetensors_dtypes[tensor->dtype].size;
    return left < most ? left : most;
}

int safetensors_block_floats(double *out, const SafetensorsFile *file,
                             const SafetensorsTensor *tensor, size_t first, bool silent)
{
    unsigned char bytes[BLOCK];
    const SafetensorsFormat *dtype = &safetensors_dtypes[tensor->dtype];
    if (!dtype->is_float) {
        return silent ? 2 : refuse_dtype(file, tensor, "F64, F32, F16 or BF16");
    }
    size_t held = safetensors_block(tensor, first), wrong = 0;
    int status =
        safetensors_bytes(bytes, file, offset_of(file, tensor, first), held * dtype->size, silent);
    if (status != 0) {
        return status;
    }
    convert(out, bytes, tensor->dtype, held);
    while (wrong < held && isfinite(out[wrong])) {
        wrong++;
    }
    return wrong == held ? 0
           : silent      ? 2
                         : refuse_value(file, tensor, first + wrong,
                                   isnan(out[wrong]) ? "NaN: expected a finite number"
                                                          : "infinity: expected a finite number");
}

int safetensors_floats(double *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
{
    size_t first = 0;
    int status;
    do {
        status = safetensors_block_floats(out + first, file, tensor, first, false);
        first += safetensors_block(tensor, first);
    } while (status == 0 && first < tensor->count);
    return status;
}

int safetensors_first(double *value, const SafetensorsFile *file, const SafetensorsTensor *tensor)
{
    unsigned char bytes[8] = {0};
    int status = safetensors_bytes(bytes, file, offset_of(file, tensor, 0),
                                   safetensors_dtypes[tensor->dtype].size, false);
    convert(value, bytes, tensor->dtype, 1);
    return status;
}

/* The two's complement of `size` bytes, without a conversion that an implementation defines. */
static int64_t signed_value(uint64_t bits, size_t size)
{
    uint64_t top = 128;
    for (size_t i = 1; i < size; i++) {
        top <<= 8;
    }
    return (bits & top) == 0 ? (int64_t)bits : -(int64_t)(top - 1 - (bits & (top - 1))) - 1;
}

/* *value: the integer of a tensor's value number `position`. */
static int integer_value(int64_t *value, const SafetensorsFile *file,
                         const SafetensorsTensor *tensor, size_t position, uint64_t bits)
{
    const SafetensorsFormat *dtype = &safetensors_dtypes[tensor->dtype];
    if (!dtype->is_signed && bits > INT64_MAX) {
        return refuse_value(file, tensor, position, "expected an integer below 2^63");
    }
    if (tensor->dtype == SAFETENSORS_BOOL && bits > 1) {
        return refuse_value(file, tensor, position, "expected 0 or 1");
    }
    *value = dtype->is_signed ? signed_value(bits, dtype->size) : (int64_t)bits;
    return 0;
}

int safetensors_integers(int64_t *out, const SafetensorsFile *file, const SafetensorsTensor *tensor)
{
    unsigned char bytes[BLOCK];
    size_t size = safetensors_dtypes[tensor->dtype].size;
    int status = 0;
    if (safetensors_dtypes[tensor->dtype].is_float) {
        return refuse_dtype(file, tensor, "an integer one");
    }
    for (size_t first = 0, held; status == 0 && first < tensor->count; first += held) {
        held = safetensors_block(tensor, first);
        status = safetensors_bytes(bytes, file, offset_of(file, tensor, first), held * size, false);
        for (size_t i = 0; status == 0 && i < held; i++) {
            status = integer_value(&out[first + i], file, tensor, first + i,
                                   little_endian(bytes + i * size, size));
        }
    }
    return status;
}

static SafetensorsTuple tuple_of(size_t rank, const size_t *values, const char *brackets)
{
    SafetensorsTuple tuple;
    char *end = tuple.text;
    *end++ = brackets[0];
    for (size_t i = 0; i < rank; i++) {
        end += sprintf(end, i == 0 ? "%zu" : ", %zu", values[i]);
    }
    *end++ = brackets[1];
    *end = '\0';
    return tuple;
}

SafetensorsTuple safetensors_index(const SafetensorsTensor *tensor, size_t position)
{
    size_t index[SAFETENSORS_RANK_MOST];
    for (size_t i = tensor->rank; i-- > 0;) {
        index[i] = position % tensor->shape[i];
        position /= tensor->shape[i];
    }
    return tuple_of(tensor->rank, index, "()");
}

SafetensorsTuple safetensors_shape(const SafetensorsTensor *tensor)
{
    return tuple_of(tensor->rank, tensor->shape, "[]");
}
