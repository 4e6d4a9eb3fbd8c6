/*
 * A safetensors file opened.
 */
#include "safetensors.h"

#include "../base/message.h"
#include "safetensors_header.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Says that what open or fstat asked for cannot be had; returns the exit code. */
static int unreadable(const char *path, int error)
{
    complain_of(path, NULL, NULL, "expected a file that can be read (%s)", strerror(error));
    return file_fault(error);
}

/* *size: of fd, which is path. */
static int measure(size_t *size, int fd, const char *path)
{
    struct stat found;
    if (fstat(fd, &found) != 0) {
        return unreadable(path, errno);
    }
    if (!S_ISREG(found.st_mode)) {
        complain_of(path, NULL, NULL, "expected a regular file, not %s",
                    S_ISDIR(found.st_mode) ? "a directory" : "a pipe or a device");
        return 2;
    }
    if (found.st_size <= 0) {
        complain_of(path, NULL, NULL, "expected a safetensors file: it is empty");
        return 2;
    }
    if ((uintmax_t)found.st_size > SIZE_MAX) {
        return unreadable(path, EFBIG);
    }
    *size = (size_t)found.st_size;
    return 0;
}

/* Makes *file of what is open, which is closed on failure, or of the caller's bytes. */
static int parse(SafetensorsFile **file, const char *path, int fd, const unsigned char *bytes,
                 size_t size)
{
    SafetensorsFile *made = calloc(1, sizeof *made);
    *file = NULL;
    if (made == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return memory_fault();
    }
    made->fd = fd;
    made->bytes = bytes;
    made->size = size;
    made->path = strdup(path);
    int status = made->path == NULL ? memory_fault() : safetensors_read_header(made);
    if (status != 0) {
        safetensors_close(made);
        return status;
    }
    *file = made;
    return 0;
}

int safetensors_open(SafetensorsFile **file, const char *path)
{
    size_t size = 0;
    *file = NULL;
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return unreadable(path, errno);
    }
    int status = measure(&size, fd, path);
    if (status != 0) {
        close(fd);
        return status;
    }
    return parse(file, path, fd, NULL, size);
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
