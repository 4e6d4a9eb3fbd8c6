/*
 * A JSON object read from a file that others made.
 */
#include "json_file.h"

#include "../base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int unreadable(const char *path, int error)
{
    complain_of(path, NULL, NULL, "expected a file that can be read (%s)", strerror(error));
    return file_fault(error);
}

/* *size: of fd, which is path. */
static int measure(size_t *size, int fd, const char *path, size_t most)
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
    if (found.st_size < 0 || (uintmax_t)found.st_size > most) {
        complain_of(path, NULL, NULL, "%lld bytes of JSON: expected at most %zu",
                    (long long)found.st_size, most);
        return 2;
    }
    *size = (size_t)found.st_size;
    return 0;
}

/* *length: of what there is of text [size]; a file that is being written may have less. */
static int read_text(char *text, size_t *length, int fd, const char *path, size_t size)
{
    *length = 0;
    while (*length < size) {
        ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno != EINTR) {
            return unreadable(path, errno);
        }
        if (got == 0) {
            break;
        }
        *length += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int parse(json_t **root, const char *path, const char *text, size_t length)
{
    json_error_t error;
    json_t *found = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (found == NULL && error.text[0] == '\0') {
        return memory_fault();
    }
    if (found == NULL) {
        complain_of(path, NULL, NULL, "line %d, byte %d: %s: expected JSON", error.line,
                    error.position, error.text);
        return 2;
    }
    if (!json_is_object(found)) {
        json_decref(found);
        complain_of(path, NULL, NULL, "expected a JSON object, which begins with '{'");
        return 2;
    }
    *root = found;
    return 0;
}

static int read_open(json_t **root, int fd, const char *path, size_t most)
{
    size_t size = 0, length;
    int status = measure(&size, fd, path, most);
    if (status != 0) {
        return status;
    }
    char *text = malloc(size + 1);
    if (text == NULL) {
        return memory_fault();
    }
    status = read_text(text, &length, fd, path, size);
    if (status == 0) {
        status = parse(root, path, text, length);
    }
    free(text);
    return status;
}

int json_file_read(json_t **root, const char *path, size_t most, bool optional)
{
    *root = NULL;
    /* Without O_NONBLOCK, opening a pipe would wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return optional && errno == ENOENT ? 0 : unreadable(path, errno);
    }
    int status = read_open(root, fd, path, most);
    close(fd);
    return status;
}
