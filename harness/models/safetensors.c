/*
 * A safetensors file opened, and looked at again.
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
                 : safetensors_read_header(made);
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
        int status = safetensors_bytes(text, file, at, count);
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
