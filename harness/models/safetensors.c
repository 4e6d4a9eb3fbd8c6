/*
 * A safetensors file opened.
 */
#include "safetensors.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "regular_file.h"
#include "safetensors_header.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* When an open file was written; zeros where that is not known. */
static struct timespec modified_of(int fd)
{
    struct stat found;
    return fd >= 0 && fstat(fd, &found) == 0 ? found.st_mtim : (struct timespec){0};
}

/* Makes *file of what is open, which is closed on failure, or of the caller's bytes. */
static int parse(SafetensorsFile **file, const char *path, int fd, const unsigned char *bytes,
                 size_t size)
{
    SafetensorsFile *made = need_zeros(1, sizeof *made);
    *file = NULL;
    made->fd = fd;
    made->modified = modified_of(fd);
    made->bytes = bytes;
    made->size = size;
    made->path = need_copy(path);
    int status = safetensors_read_header(made);
    if (status != 0) {
        safetensors_close(made);
        return status;
    }
    *file = made;
    return 0;
}

int safetensors_open(SafetensorsFile **file, const char *path)
{
    int fd;
    uintmax_t size = 0;
    *file = NULL;
    int status = regular_file_open(&fd, &size, path, false);
    if (status == 0 && size == 0) {
        status = complain_of(path, NULL, NULL, "expected a safetensors file: it is empty");
    } else if (status == 0 && size > SIZE_MAX) {
        status = regular_file_unreadable(path, EFBIG);
    }
    if (status != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return status;
    }
    return parse(file, path, fd, NULL, (size_t)size);
}

int safetensors_parse(SafetensorsFile **file, const char *path, const void *bytes, size_t size)
{
    return parse(file, path, -1, bytes, size);
}

void safetensors_close(SafetensorsFile *file)
{
    if (file == NULL) {
        return;
    }
    if (file->fd >= 0) {
        close(file->fd);
    }
    json_decref(file->header);
    free(file->tensors);
    free(file->path);
    free(file);
}

int safetensors_recheck(const SafetensorsFile *file, bool header)
{
    struct stat found;
    if (file->fd < 0) {
        return 0;
    }
    if (fstat(file->fd, &found) != 0) {
        return regular_file_unreadable(file->path, errno);
    }
    bool same = (uintmax_t)found.st_size == file->size &&
                found.st_mtim.tv_sec == file->modified.tv_sec &&
                found.st_mtim.tv_nsec == file->modified.tv_nsec;
    return !same ? safetensors_refuse_change(file) : header ? safetensors_reread_header(file) : 0;
}

const char *safetensors_path(const SafetensorsFile *file)
{
    return file->path;
}

size_t safetensors_count(const SafetensorsFile *file)
{
    return file->count;
}

const SafetensorsTensor *safetensors_tensor(const SafetensorsFile *file, size_t index)
{
    return &file->tensors[index];
}

bool safetensors_has(const SafetensorsFile *file, const char *name)
{
    return strcmp(name, "__metadata__") != 0 && json_object_get(file->header, name) != NULL;
}

const char *safetensors_metadata(const SafetensorsFile *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}
