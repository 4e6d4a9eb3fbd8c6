/*
 * A JSON object read from a file that others made.
 */
#include "regular_file.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdlib.h>
#include <unistd.h>

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
