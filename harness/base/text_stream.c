/*
 * A stream into text that grows, made with fopencookie, which glibc and musl have.
 */
#define _GNU_SOURCE

#include "text_stream.h"

#include "../../memory/need.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char **text;
    size_t *size, room; /* of *text, with its NUL */
} Text;

enum { ROOM_FIRST = 256 };

static void make_room(Text *into, size_t size)
{
    size_t room = into->room > 0 ? into->room : ROOM_FIRST;
    while (room <= size) {
        room *= 2;
    }
    if (room > into->room) {
        *into->text = need_more(*into->text, room, 1);
        into->room = room;
    }
}

static ssize_t write_text(void *context, const char *bytes, size_t count)
{
    Text *into = context;
    make_room(into, *into->size + count);
    memcpy(*into->text + *into->size, bytes, count);
    *into->size += count;
    (*into->text)[*into->size] = '\0';
    return (ssize_t)count;
}

static int close_text(void *context)
{
    free(context);
    return 0;
}

char *text_close(FILE *stream, char **text)
{
    bool lost = ferror(stream) != 0; /* the stream's own buffer may have found no room */
    if (fclose(stream) != 0 || lost) {
        need_is_short();
    }
    return *text;
}

FILE *text_stream(char **text, size_t *size)
{
    Text *into = need_zeros(1, sizeof *into);
    *text = NULL;
    *size = 0;
    *into = (Text){.text = text, .size = size};
    make_room(into, 0); /* text of no length is text too */
    **text = '\0';
    FILE *stream =
        fopencookie(into, "w", (cookie_io_functions_t){.write = write_text, .close = close_text});
    if (stream == NULL) {
        need_is_short();
    }
    return stream;
}

size_t text_lines(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += text[i] == '\n';
    }
    return count;
}

/* ---- A file read whole ----------------------------------------------------------------------- */

enum { FILE_FIRST = 1 << 16 };

static char *read_all(size_t *size, FILE *file)
{
    size_t room = FILE_FIRST;
    char *text = need_room(room, 1);
    *size = 0;
    do {
        if (room - *size <= room / 2) {
            room *= 2;
            text = need_more(text, room, 1);
        }
        *size += fread(text + *size, 1, room - *size - 1, file);
    } while (!feof(file) && !ferror(file));
    text[*size] = '\0';
    return text;
}

char *file_text(size_t *size, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL && errno == ENOMEM) {
        need_is_short();
    }
    if (file == NULL) {
        return NULL;
    }
    errno = 0;
    char *text = read_all(size, file);
    int reason = errno != 0 ? errno : EIO;
    if (ferror(file) && reason == ENOMEM) {
        need_is_short();
    }
    if (ferror(file)) {
        free(text);
        text = NULL;
    }
    (void)fclose(file); /* it was only read */
    errno = reason;
    return text;
}
