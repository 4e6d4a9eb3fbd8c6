/*
 * A JSON object read from a file that others made.
 */
#include "json_file.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "regular_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* *length: of what there is of text [size]; a file that is being written may have less. */
static int read_text(char *text, size_t *length, int fd, const char *path, size_t size)
{
    *length = 0;
    while (*length < size) {
        ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno != EINTR) {
            return regular_file_unreadable(path, errno);
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

static int read_open(json_t **root, int fd, const char *path, size_t size)
{
    size_t length;
    char *text = need_room(size + 1, 1);
    int status = read_text(text, &length, fd, path, size);
    status = status != 0 ? status : parse(root, path, text, length);
    free(text);
    return status;
}

int json_file_read(json_t **root, const char *path, size_t most, bool optional)
{
    int fd;
    uintmax_t size = 0;
    *root = NULL;
    int status = regular_file_open(&fd, &size, path, optional);
    if (fd < 0) {
        return status;
    }
    if (size > most) {
        status =
            complain_of(path, NULL, NULL, "%ju bytes of JSON: expected at most %zu", size, most);
    } else {
        status = read_open(root, fd, path, (size_t)size);
    }
    close(fd);
    return status;
}
