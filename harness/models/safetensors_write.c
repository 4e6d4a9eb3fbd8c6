/*
 * A safetensors file written.
 */
#include "safetensors_write.h"

#include "../../memory/need.h"
#include "../base/atomic_file.h"
#include "../base/message.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* count values: [.., .., extent[2]], innermost last, strides in values.  Contiguous: one row. */
typedef struct {
    size_t count;
    size_t extent[3], stride[3];
    const void *data; /* doubles, or small: signed chars */
    bool small;
    size_t part;
} Announced;

struct SafetensorsWriter {
    json_t *header;     /* as it will be written */
    Announced *tensors; /* [count], whose data follow each other in the header's order */
    size_t count;
    uint64_t data_bytes; /* below 2^62 */
    int status;          /* 0, or the first failure */
    SafetensorsShow *show;
    void *context;
    size_t part; /* of the next tensor */
};

static void demand(bool promise, const char *text, const char *name)
{
    if (!promise) {
        fprintf(stderr, "safetensors_write.c: bug: not so: %s ('%s')\n", text, name);
        abort();
    }
}

SafetensorsWriter *safetensors_writer_make(void)
{
    SafetensorsWriter *writer = need_zeros(1, sizeof *writer);
    writer->header = json_object();
    writer->part = SIZE_MAX;
    json_object_set_new(writer->header, "__metadata__", json_object());
    return writer;
}

void safetensors_writer_metadata(SafetensorsWriter *writer, const char *key, const char *value)
{
    json_t *metadata = json_object_get(writer->header, "__metadata__");
    demand(json_object_get(metadata, key) == NULL, "metadata are given once", key);
    if (json_object_set_new(metadata, key, json_string(value)) != 0) {
        need_is_short();
    }
}

int safetensors_writer_status(const SafetensorsWriter *writer)
{
    return writer->status;
}

static void check_name(const SafetensorsWriter *writer, const char *name, size_t rank)
{
    size_t length = strlen(name);
    demand(length > 0 && length <= SAFETENSORS_NAME_MOST, "a name has a length", name);
    for (const char *c = name; *c != '\0'; c++) {
        demand(*c >= 0x20 && *c < 0x7f && *c != '"' && *c != '\\', "a name is plain ASCII", name);
    }
    demand(json_object_get(writer->header, name) == NULL, "a name is given once", name);
    demand(rank <= SAFETENSORS_RANK_MOST, "a rank is at most 8", name);
}

/* The product of the extents; false where a file could not be that large. */
static bool count_values(uint64_t *count, size_t rank, const size_t *shape)
{
    uint64_t most = (UINT64_C(1) << 62) / 8, product = 1;
    bool empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] > 0 && product > most / shape[i]) {
            return false;
        }
        empty = empty || shape[i] == 0;
        product *= shape[i] > 0 ? shape[i] : 1;
    }
    *count = empty ? 0 : product;
    return *count <= SIZE_MAX;
}

static json_t *describe(size_t rank, const size_t *shape, const uint64_t offsets[2])
{
    json_t *extents = json_array();
    for (size_t i = 0; i < rank; i++) {
        json_array_append_new(extents, json_integer((json_int_t)shape[i]));
    }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F64", "shape", extents, "data_offsets",
                     (json_int_t)offsets[0], (json_int_t)offsets[1]);
}

static int announce(SafetensorsWriter *writer, const char *name, size_t rank, const size_t *shape,
                    const void *data)
{
    uint64_t count;
    if (writer->status != 0) {
        return writer->status;
    }
    check_name(writer, name, rank);
    if (!count_values(&count, rank, shape) ||
        8 * count > (UINT64_C(1) << 62) - writer->data_bytes) {
        writer->status =
            complain_of("headproof", "tensor", name, "expected a size that a file can have");
        return writer->status;
    }
    writer->tensors = need_more(writer->tensors, writer->count + 1, sizeof *writer->tensors);
    const uint64_t offsets[] = {writer->data_bytes, writer->data_bytes + 8 * count};
    if (json_object_set_new(writer->header, name, describe(rank, shape, offsets)) != 0) {
        need_is_short();
    }
    writer->tensors[writer->count++] = (Announced){.count = (size_t)count,
                                                   .extent = {1, 1, (size_t)count},
                                                   .stride = {0, 0, 1},
                                                   .data = data,
                                                   .part = writer->part};
    writer->data_bytes += 8 * count;
    return 0;
}

int safetensors_writer_small(SafetensorsWriter *writer, const char *name, size_t rank,
                             const size_t *shape, const signed char *data)
{
    if (announce(writer, name, rank, shape, data) == 0) {
        writer->tensors[writer->count - 1].small = true;
    }
    return writer->status;
}

int safetensors_writer_floats(SafetensorsWriter *writer, const char *name, size_t rank,
                              const size_t *shape, const size_t *stride, const double *data)
{
    demand(stride == NULL || (rank >= 1 && rank <= 3), "a tensor with strides has rank 1, 2 or 3",
           name);
    if (announce(writer, name, rank, shape, data) != 0) {
        return writer->status;
    }
    Announced *tensor = &writer->tensors[writer->count - 1];
    for (size_t i = 0; stride != NULL && i < 3; i++) {
        bool own = i + rank >= 3;
        tensor->extent[i] = own ? shape[i + rank - 3] : 1;
        tensor->stride[i] = own ? stride[i + rank - 3] : 0;
    }
    return 0;
}

void safetensors_writer_show(SafetensorsWriter *writer, SafetensorsShow *show, void *context)
{
    writer->show = show;
    writer->context = context;
}

void safetensors_writer_part(SafetensorsWriter *writer, size_t part)
{
    writer->part = part;
}

uint64_t safetensors_writer_bytes(const SafetensorsWriter *writer)
{
    return writer->data_bytes;
}

/* To a multiple of 8, so that the data are aligned in a mapping. */
static size_t padding(size_t length)
{
    return (8 - length % 8) % 8;
}

static void put_little_endian(unsigned char *bytes, uint64_t value)
{
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i) & 255);
    }
}

/* A row's values, which begin with number `first` of the data. */
static int write_values(FILE *file, const Announced *tensor, size_t first)
{
    enum { BLOCK = 1024 };
    unsigned char bytes[8 * BLOCK];
    const size_t count = tensor->extent[2], stride = tensor->stride[2];
    for (size_t done = 0; done < count;) {
        size_t block = count - done < BLOCK ? count - done : BLOCK;
        for (size_t i = 0; i < block; i++) {
            size_t at = first + stride * (done + i);
            double small = tensor->small ? ((const signed char *)tensor->data)[at] : 0;
            uint64_t bits;
            memcpy(&bits, tensor->small ? &small : (const double *)tensor->data + at, sizeof bits);
            put_little_endian(bytes + 8 * i, bits);
        }
        if (fwrite(bytes, 8, block, file) != block) {
            return -1;
        }
        done += block;
    }
    return 0;
}

static int write_tensor(FILE *file, const Announced *tensor)
{
    const size_t *extent = tensor->extent, *stride = tensor->stride;
    for (size_t i = 0; tensor->count > 0 && i < extent[0]; i++) {
        for (size_t j = 0; j < extent[1]; j++) {
            if (write_values(file, tensor, i * stride[0] + j * stride[1]) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* *shown: what show returned where it failed. */
static int write_all(FILE *file, const SafetensorsWriter *writer, const char *header, int *shown)
{
    unsigned char bytes[8];
    size_t length = strlen(header), padded = length + padding(length);
    put_little_endian(bytes, padded);
    if (fwrite(bytes, 1, 8, file) != 8 || fputs(header, file) == EOF ||
        fprintf(file, "%*s", (int)(padded - length), "") < 0) {
        return -1;
    }
    for (size_t i = 0, part = SIZE_MAX; i < writer->count; i++) {
        const Announced *tensor = &writer->tensors[i];
        bool other = writer->show != NULL && tensor->part != part;
        *shown = other ? writer->show(writer->context, tensor->part) : 0;
        if (*shown != 0 || write_tensor(file, tensor) != 0) {
            return -1;
        }
        part = tensor->part;
    }
    return 0;
}

static int write_file(const SafetensorsWriter *writer, const char *header, const char *path)
{
    AtomicFile file = {0};
    int status = atomic_file_open(&file, path);
    if (status != 0) {
        return status;
    }
    int shown = 0;
    bool written = write_all(file.file, writer, header, &shown) == 0;
    if (shown != 0) {
        atomic_file_clear(&file);
        return shown;
    }
    return atomic_file_finish(&file, written, path);
}

int safetensors_writer_finish(const SafetensorsWriter *writer, const char *path)
{
    if (writer->status != 0) {
        return writer->status;
    }
    for (size_t i = 0; i < writer->count; i++) {
        demand(writer->tensors[i].data != NULL || writer->tensors[i].count == 0,
               "a tensor that is written has data", path);
    }
    char *header = json_dumps(writer->header, JSON_COMPACT);
    size_t length = strlen(header);
    int status;
    if (length + padding(length) > SAFETENSORS_HEADER_MOST) { /* readers take no more */
        status =
            complain_of(path, NULL, NULL, "header of %zu bytes: expected names and metadata of %d",
                        length, SAFETENSORS_HEADER_MOST);
    } else {
        status = write_file(writer, header, path);
    }
    free(header);
    return status;
}

void safetensors_writer_clear(SafetensorsWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    json_decref(writer->header);
    free(writer->tensors);
    free(writer);
}
