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

/* Of what is open, which is the file's from here on. */
static int read_open(SafetensorsFile *file)
{
    struct stat found;
    if (fstat(file->fd, &found) == 0) {
        file->modified = found.st_mtim;
    }
    return safetensors_read_header(file);
}

int safetensors_open(SafetensorsFile **file, const char *path)
{
    int fd;
    uintmax_t size = 0;
    *file = NULL;
    int status = regular_file_open(&fd, &size, path, false);
    if (fd < 0) {
        return status;
    }
    SafetensorsFile *made = need_zeros(1, sizeof *made);
    *made = (SafetensorsFile){.path = need_copy(path), .fd = fd, .size = (size_t)size};
    if (size == 0) {
        status = complain_of(path, NULL, NULL, "expected a safetensors file: it is empty");
    } else if (size > SIZE_MAX) {
        status = regular_file_unreadable(path, EFBIG);
    } else {
        status = read_open(made);
    }
    if (status != 0) {
        safetensors_close(made);
        return status;
    }
    *file = made;
    return 0;
}

void safetensors_close(SafetensorsFile *file)
{
    if (file == NULL) {
        return;
    }
    close(file->fd);
    json_decref(file->header);
    free(file->tensors);
    free(file->path);
    free(file);
}

int safetensors_recheck(const SafetensorsFile *file, bool header)
{
    struct stat found;
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
