/*
 * Files that are read in any order, or as a whole: no pipes.
 */
#include "regular_file.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int regular_file_unreadable(const char *path, int error)
{
    complain_of(path, NULL, NULL, "expected a file that can be read (%s)", strerror(error));
    return file_fault(error);
}

int regular_file_open(int *fd, struct stat *found, const char *path, bool optional)
{
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) {
        struct stat link; /* one that leads nowhere is there all the same */
        int error = errno;
        bool absent = error == ENOENT && lstat(path, &link) != 0;
        return optional && absent ? 0 : regular_file_unreadable(path, error);
    }
    int status = 0;
    if (fstat(*fd, found) != 0) {
        status = regular_file_unreadable(path, errno);
    } else if (!S_ISREG(found->st_mode)) {
        status = complain_of(path, NULL, NULL, "expected a regular file, not %s",
                             S_ISDIR(found->st_mode) ? "a directory" : "a pipe or a device");
    }
    if (status != 0) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

size_t regular_file_read(void *bytes, int fd, size_t offset, size_t size, int *error)
{
    size_t done = 0;
    ssize_t got = 1;
    *error = 0;
    while (done < size && got != 0 && *error == 0) {
        got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        done += got > 0 ? (size_t)got : 0;
        *error = got < 0 && errno != EINTR ? errno : 0;
    }
    return done;
}

const char *regular_file_kind(const char *first, size_t count)
{
#define PYTORCH "as PyTorch writes it: python3 -m headproof save FILE -o MODEL.safetensors reads it"
    static const struct {
        const char *first, *what;
    } kinds[] = {
        {"version https://git-lfs", "a Git LFS pointer, not the file itself: run git lfs pull"},
        {"<!DOCTYPE", "a page of HTML, as a failed download leaves it: download the file again"},
        {"<!doctype", "a page of HTML, as a failed download leaves it: download the file again"},
        {"<html", "a page of HTML, as a failed download leaves it: download the file again"},
        {"GGUF", "GGUF, whose weights are rounded to few bits: take the original's safetensors"},
        {"\x89HDF", "HDF5, as Keras writes it: save the weights as safetensors"},
        {"\x93NUMPY", "an array of numpy's: save all weights as safetensors"},
        {"PK\x03\x04", "a zip archive, " PYTORCH},
        {"\x80\x02", "a pickle, " PYTORCH},
        {"\x80\x03", "a pickle, " PYTORCH},
        {"\x80\x04", "a pickle, " PYTORCH},
        {"\x80\x05", "a pickle, " PYTORCH},
        {"\x1f\x8b", "compressed by gzip: unpack it"},
        {"{\"", "JSON: expected the folder, or a name that ends in .safetensors.index.json"},
    };
#undef PYTORCH
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].first);
        if (count >= length && memcmp(first, kinds[i].first, length) == 0) {
            return kinds[i].what;
        }
    }
    return NULL;
}

static int parse(json_t **root, const char *path, const char *text, size_t length)
{
    json_error_t error;
    json_t *found = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (found == NULL && error.text[0] == '\0') {
        need_is_short();
    }
    const char *kind = regular_file_kind(text, length);
    if (found == NULL && kind != NULL && *text != '{') {
        return complain_of(path, NULL, NULL, "%s", kind);
    }
    if (found == NULL) {
        return complain_of(path, NULL, NULL, "line %d, byte %d: %s: expected JSON", error.line,
                           error.position, error.text);
    }
    if (!json_is_object(found)) {
        json_decref(found);
        return complain_of(path, NULL, NULL, "expected a JSON object, which begins with '{'");
    }
    *root = found;
    return 0;
}

int json_file_read(json_t **root, const char *path, size_t most, bool optional)
{
    int fd;
    struct stat found;
    *root = NULL;
    int status = regular_file_open(&fd, &found, path, optional);
    if (fd < 0) {
        return status;
    }
    size_t size = (size_t)found.st_size;
    if (size > most) {
        status =
            complain_of(path, NULL, NULL, "%zu bytes of JSON: expected at most %zu", size, most);
    } else {
        int error;
        char *text = need_room(size + 1, 1);
        /* A file that is being written may have less than `size`. */
        size_t length = regular_file_read(text, fd, 0, size, &error);
        status =
            error != 0 ? regular_file_unreadable(path, error) : parse(root, path, text, length);
        free(text);
    }
    close(fd);
    return status;
}
