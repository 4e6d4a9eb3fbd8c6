/*
 * A safetensors file opened and mapped.
 */
#include "safetensors.h"

#include "../base/message.h"
#include "safetensors_header.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Says that what open, fstat or mmap asked for cannot be had; returns the exit code. */
static int unreadable(const char *path, int error)
{
    complain_of(path, NULL, NULL, "expected a file that can be read (%s)", strerror(error));
    return file_fault(error);
}

/* Maps fd, which is path, for *bytes [*size]. */
static int map(const unsigned char **bytes, size_t *size, int fd, const char *path)
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
    void *mapped = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) {
        return unreadable(path, errno);
    }
    *bytes = mapped;
    return 0;
}

/* Makes *file of bytes, which are a mapping or the caller's. */
static int parse(SafetensorsFile **file, const char *path, const unsigned char *bytes, size_t size,
                 bool mapped)
{
    SafetensorsFile *made = calloc(1, sizeof *made);
    *file = NULL;
    if (made == NULL) {
        if (mapped) {
            (void)munmap((void *)bytes, size);
        }
        return memory_fault();
    }
    made->bytes = bytes;
    made->size = size;
    made->mapped = mapped;
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
    const unsigned char *bytes = NULL;
    size_t size = 0;
    *file = NULL;
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return unreadable(path, errno);
    }
    int status = map(&bytes, &size, fd, path);
    close(fd);
    return status != 0 ? status : parse(file, path, bytes, size, true);
}

int safetensors_parse(SafetensorsFile **file, const char *path, const void *bytes, size_t size)
{
    return parse(file, path, bytes, size, false);
}

void safetensors_close(SafetensorsFile *file)
{
    if (file == NULL) {
        return;
    }
    if (file->mapped) {
        (void)munmap((void *)file->bytes, file->size);
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

const char *safetensors_metadata(const SafetensorsFile *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}
