/*
 * A safetensors file opened, its header read strictly, and looked at again.
 */
#include "safetensors.h"

#include "../../memory/need.h"
#include "../base/digest.h"
#include "../base/message.h"
#include "regular_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse_key(const SafetensorsFile *file, const char *tensor, const char *key,
                      const char *expected)
{
    return complain_of(file->path, "tensor", tensor, "key '%.100s': expected %s", key, expected);
}

static bool to_size(size_t *size, const json_t *value)
{
    json_int_t integer = json_integer_value(value);
    if (!json_is_integer(value) || integer < 0 || (unsigned long long)integer > SIZE_MAX) {
        return false;
    }
    *size = (size_t)integer;
    return true;
}

/* jansson has checked that it is UTF-8 without a NUL. */
static int check_name(const SafetensorsFile *file, const char *name)
{
    const unsigned char *c = (const unsigned char *)name;
    if (*c == '\0' || strlen(name) > SAFETENSORS_NAME_MOST) {
        return complain_of(file->path, "tensor", name, "expected a name of 1 to %d bytes",
                           SAFETENSORS_NAME_MOST);
    }
    for (; *c != '\0'; c++) {
        bool c1 = c[0] == 0xc2 && c[1] < 0xa0;
        if (*c < 0x20 || *c == 0x7f || c1) {
            return complain_of(file->path, "tensor", name,
                               "expected a name without control characters");
        }
    }
    return 0;
}

static int read_dtype(const SafetensorsFile *file, SafetensorsTensor *tensor, const json_t *value)
{
    const char *text = json_string_value(value);
    for (int i = 0; text != NULL && i < SAFETENSORS_DTYPES; i++) {
        if (strcmp(text, safetensors_dtypes[i].name) == 0) {
            tensor->dtype = (SafetensorsDtype)i;
            return 0;
        }
    }
    return complain_of(
        file->path, "tensor", tensor->name,
        "dtype '%.100s': expected F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, "
        "U8 or BOOL",
        text != NULL ? text : "(not a string)");
}

/* The product of the other extents must not overflow even where one is 0, so that code that
 * multiplies them is safe. */
static int read_shape(const SafetensorsFile *file, SafetensorsTensor *tensor, const json_t *value)
{
    size_t most = SIZE_MAX / safetensors_dtypes[tensor->dtype].size, count = 1;
    bool empty = false;
    tensor->rank = json_array_size(value);
    if (!json_is_array(value) || tensor->rank > SAFETENSORS_RANK_MOST) {
        return refuse_key(file, tensor->name, "shape", "an array of at most 8 integers");
    }
    for (size_t i = 0; i < tensor->rank; i++) {
        size_t extent;
        if (!to_size(&extent, json_array_get(value, i))) {
            return refuse_key(file, tensor->name, "shape", "integers >= 0");
        }
        if (extent > 0 && count > most / extent) {
            return refuse_key(file, tensor->name, "shape", "extents whose product is a size");
        }
        empty = empty || extent == 0;
        count *= extent > 0 ? extent : 1;
        tensor->shape[i] = extent;
    }
    tensor->count = empty ? 0 : count;
    return 0;
}

static int read_offsets(const SafetensorsFile *file, SafetensorsTensor *tensor, const json_t *value)
{
    if (json_array_size(value) != 2 || !to_size(&tensor->begin, json_array_get(value, 0)) ||
        !to_size(&tensor->end, json_array_get(value, 1))) {
        return refuse_key(file, tensor->name, "data_offsets", "an array of two integers >= 0");
    }
    size_t bytes = tensor->count * safetensors_dtypes[tensor->dtype].size;
    if (tensor->begin > tensor->end || tensor->end > file->data_size) {
        return complain_of(file->path, "tensor", tensor->name,
                           "data_offsets [%zu, %zu]: expected a range within the data, 0 to %zu",
                           tensor->begin, tensor->end, file->data_size);
    }
    if (tensor->end - tensor->begin != bytes) {
        return complain_of(
            file->path, "tensor", tensor->name,
            "data_offsets [%zu, %zu]: expected a range of %zu bytes for shape %s of %s",
            tensor->begin, tensor->end, bytes, safetensors_shape(tensor).text,
            safetensors_dtypes[tensor->dtype].name);
    }
    return 0;
}

static int read_tensor(const SafetensorsFile *file, SafetensorsTensor *tensor, json_t *value)
{
    static const struct {
        const char *key;
        int (*read)(const SafetensorsFile *, SafetensorsTensor *, const json_t *);
    } keys[] = {{"dtype", read_dtype}, {"shape", read_shape}, {"data_offsets", read_offsets}};
    int status = check_name(file, tensor->name);
    if (status != 0) {
        return status;
    }
    if (!json_is_object(value)) {
        return complain_of(file->path, "tensor", tensor->name, "expected an object");
    }
    for (size_t i = 0; i < 3; i++) {
        const json_t *found = json_object_get(value, keys[i].key);
        if (found == NULL) {
            return refuse_key(file, tensor->name, keys[i].key, "to be there");
        }
        status = keys[i].read(file, tensor, found);
        if (status != 0) {
            return status;
        }
    }
    for (void *i = json_object_iter(value); i != NULL; i = json_object_iter_next(value, i)) {
        const char *key = json_object_iter_key(i);
        if (strcmp(key, "dtype") != 0 && strcmp(key, "shape") != 0 &&
            strcmp(key, "data_offsets") != 0) {
            return refuse_key(file, tensor->name, key, "dtype, shape and data_offsets alone");
        }
    }
    return 0;
}

static int check_metadata(const SafetensorsFile *file, json_t *metadata)
{
    if (!json_is_object(metadata)) {
        return complain_of(file->path, "key", "__metadata__", "expected an object");
    }
    for (void *i = json_object_iter(metadata); i != NULL; i = json_object_iter_next(metadata, i)) {
        if (!json_is_string(json_object_iter_value(i))) {
            return complain_of(file->path, "metadata", json_object_iter_key(i),
                               "expected a string");
        }
    }
    return 0;
}

static int by_offset(const void *left, const void *right)
{
    const SafetensorsTensor *a = left, *b = right;
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end < b->end ? -1 : 1;
    }
    return strcmp(a->name, b->name);
}

/* Sorts the tensors; together they must be the data, without an overlap or a hole. */
static int check_coverage(SafetensorsFile *file)
{
    size_t end = 0;
    if (file->count > 0) {
        qsort(file->tensors, file->count, sizeof *file->tensors, by_offset);
    }
    for (size_t i = 0; i < file->count; i++) {
        const SafetensorsTensor *tensor = &file->tensors[i];
        if (tensor->begin != end) {
            const char *fault = tensor->begin < end ? "an overlap" : "a hole";
            return complain_of(file->path, "tensor", tensor->name,
                               "data_offsets [%zu, %zu]: expected to begin at %zu, after '%s' (%s)",
                               tensor->begin, tensor->end, end,
                               i > 0 ? file->tensors[i - 1].name : "the header", fault);
        }
        end = tensor->end;
    }
    if (end != file->data_size) {
        return complain_of(file->path, NULL, NULL,
                           "data of %zu bytes: expected %zu, where the last tensor ends",
                           file->data_size, end);
    }
    return 0;
}

/* What a file is that is no safetensors at all: no length of a header begins as those do. */
static const char *kind_of(const SafetensorsFile *file)
{
    char first[32];
    ssize_t count = pread(file->fd, first, sizeof first, 0);
    return count > 0 ? regular_file_kind(first, (size_t)count) : NULL;
}

/* *length: of the header's text; finds the data behind it. */
static int split(SafetensorsFile *file, size_t *length)
{
    unsigned char first[8];
    if (file->size < sizeof first) {
        return complain_of(file->path, NULL, NULL,
                           "%zu bytes: expected at least 8, the length of the header", file->size);
    }
    int status = safetensors_bytes(first, file, 0, sizeof first, false);
    if (status != 0) {
        return status;
    }
    uint64_t stated = little_endian(first, sizeof first);
    size_t most = file->size - sizeof first;
    most = most < SAFETENSORS_HEADER_MOST ? most : SAFETENSORS_HEADER_MOST;
    if (stated > most) {
        const char *kind = kind_of(file);
        return kind != NULL
                   ? complain_of(file->path, NULL, NULL, "%s", kind)
                   : complain_of(
                         file->path, NULL, NULL, "header of %llu bytes: expected at most %zu%s",
                         (unsigned long long)stated, most,
                         most == file->size - sizeof first ? ", what follows in the file" : "");
    }
    *length = (size_t)stated;
    file->data_begin = sizeof first + *length;
    file->data_size = file->size - file->data_begin;
    return 0;
}

static int parse_json(SafetensorsFile *file, const char *text, size_t length)
{
    json_error_t error;
    if (length == 0 || *text != '{') {
        return complain_of(file->path, NULL, NULL, "header: expected '{' at byte 8");
    }
    file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (file->header != NULL) {
        return 0;
    }
    /* Where memory is short jansson says nothing (or, from inside its lexer, blames the text). */
    if (error.text[0] == '\0') {
        need_is_short();
    }
    return complain_of(file->path, NULL, NULL, "header: byte %d: %s: expected JSON",
                       8 + error.position, error.text);
}

static int read_json(SafetensorsFile *file)
{
    size_t length = 0;
    int status = split(file, &length);
    if (status != 0) {
        return status;
    }
    char *text = need_room(length + 1, 1);
    status = safetensors_bytes((unsigned char *)text, file, 8, length, false);
    file->digest = status == 0 ? digest_bytes(DIGEST_START, text, length) : 0;
    status = status != 0 ? status : parse_json(file, text, length);
    free(text);
    return status;
}

/* Sets all but path, fd, size and modified, also what of it there is on failure. */
static int read_header(SafetensorsFile *file)
{
    int status = read_json(file);
    if (status != 0) {
        return status;
    }
    json_t *header = file->header;
    file->tensors = need_zeros(json_object_size(header) + 1, sizeof *file->tensors);
    for (void *i = json_object_iter(header); i != NULL && status == 0;
         i = json_object_iter_next(header, i)) {
        if (strcmp(json_object_iter_key(i), "__metadata__") == 0) {
            status = check_metadata(file, json_object_iter_value(i));
            continue;
        }
        SafetensorsTensor *tensor = &file->tensors[file->count++];
        tensor->name = json_object_iter_key(i);
        status = read_tensor(file, tensor, json_object_iter_value(i));
    }
    return status != 0 ? status : check_coverage(file);
}

int safetensors_open(SafetensorsFile **file, const char *path)
{
    int fd;
    struct stat found;
    *file = NULL;
    int status = regular_file_open(&fd, &found, path, false);
    if (fd < 0) {
        return status;
    }
    SafetensorsFile *made = need_zeros(1, sizeof *made);
    *made = (SafetensorsFile){.path = need_copy(path),
                              .fd = fd,
                              .size = (size_t)found.st_size,
                              .modified = found.st_mtim};
    status = made->size == 0
                 ? complain_of(path, NULL, NULL, "expected a safetensors file: it is empty")
                 : read_header(made);
    if (status != 0) {
        safetensors_close(made);
        return status;
    }
    *file = made;
    return 0;
}

void safetensors_close(SafetensorsFile *file)
{
    if (file != NULL) {
        close(file->fd);
        json_decref(file->header);
        free(file->tensors);
        free(file->path);
        free(file);
    }
}

static int refuse_change(const SafetensorsFile *file)
{
    return complain_of(file->path, NULL, NULL,
                       "it was written to while it was read: expected a file that stays as it is");
}

static int reread_header(const SafetensorsFile *file)
{
    unsigned char text[1 << 12];
    uint64_t digest = DIGEST_START;
    for (size_t at = 8, count; at < file->data_begin; at += count) {
        size_t left = file->data_begin - at;
        count = left < sizeof text ? left : sizeof text;
        int status = safetensors_bytes(text, file, at, count, false);
        if (status != 0) {
            return status;
        }
        digest = digest_bytes(digest, text, count);
    }
    return digest == file->digest ? 0 : refuse_change(file);
}

int safetensors_recheck(const SafetensorsFile *file, bool header)
{
    struct stat found;
    if (fstat(file->fd, &found) != 0) {
        return regular_file_unreadable(file->path, errno);
    }
    bool same = (size_t)found.st_size == file->size &&
                found.st_mtim.tv_sec == file->modified.tv_sec &&
                found.st_mtim.tv_nsec == file->modified.tv_nsec;
    return !same ? refuse_change(file) : header ? reread_header(file) : 0;
}

bool safetensors_has(const SafetensorsFile *file, const char *name)
{
    return strcmp(name, "__metadata__") != 0 && json_object_get(file->header, name) != NULL;
}
