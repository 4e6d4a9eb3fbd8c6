/*
 * A stream into text that grows, made with fopencookie, which glibc and musl have.
 */
#define _GNU_SOURCE

#include "text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char **text;
    size_t *size, room; /* of *text, with its NUL */
    bool lost;
} Text;

enum { ROOM_FIRST = 256 };

static bool make_room(Text *into, size_t size)
{
    size_t room = into->room > 0 ? into->room : ROOM_FIRST;
    while (room <= size) {
        room *= 2;
    }
    char *text = room > into->room ? realloc(*into->text, room) : *into->text;
    if (text != NULL) {
        *into->text = text;
        into->room = room;
    }
    return text != NULL;
}

static ssize_t write_text(void *context, const char *bytes, size_t count)
{
    Text *into = context;
    if (into->lost || !make_room(into, *into->size + count)) {
        into->lost = true;
        errno = ENOMEM;
        return 0; /* as fopencookie says an error */
    }
    memcpy(*into->text + *into->size, bytes, count);
    *into->size += count;
    (*into->text)[*into->size] = '\0';
    return (ssize_t)count;
}

static int close_text(void *context)
{
    Text *into = context;
    bool lost = into->lost;
    if (lost) {
        free(*into->text);
        *into->text = NULL;
        *into->size = 0;
        errno = ENOMEM;
    }
    free(into);
    return lost ? -1 : 0;
}

char *text_close(FILE *stream, char **text, int status)
{
    bool ok = status == 0 && stream != NULL && !ferror(stream);
    ok = (stream == NULL || fclose(stream) == 0) && ok;
    if (!ok) {
        free(*text);
        *text = NULL;
    }
    return *text;
}

FILE *text_stream(char **text, size_t *size)
{
    Text *into = calloc(1, sizeof *into);
    *text = NULL;
    *size = 0;
    if (into == NULL) {
        return NULL;
    }
    *into = (Text){.text = text, .size = size};
    FILE *stream = NULL;
    if (make_room(into, 0)) { /* text of no length is text too */
        **text = '\0';
        stream = fopencookie(into, "w",
                             (cookie_io_functions_t){.write = write_text, .close = close_text});
    }
    if (stream == NULL) {
        free(*text);
        *text = NULL;
        free(into);
    }
    return stream;
}

/* ---- A file read whole ----------------------------------------------------------------------- */

enum { FILE_FIRST = 1 << 16 };

/* Room for as much again, unless there is room.  NULL: memory is short, and text is freed. */
static char *file_room(char *text, size_t *room, size_t size)
{
    if (text != NULL && *room - size > *room / 2) {
        return text;
    }
    *room = text == NULL ? FILE_FIRST : 2 * *room;
    char *longer = realloc(text, *room);
    if (longer == NULL) {
        free(text);
        errno = ENOMEM;
    }
    return longer;
}

static char *read_all(size_t *size, FILE *file)
{
    size_t room = 0;
    char *text = NULL;
    *size = 0;
    do {
        text = file_room(text, &room, *size);
        if (text == NULL) {
            return NULL;
        }
        *size += fread(text + *size, 1, room - *size - 1, file);
    } while (!feof(file) && !ferror(file));
    text[*size] = '\0';
    return text;
}

char *file_text(size_t *size, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    errno = 0;
    char *text = read_all(size, file);
    int reason = errno != 0 ? errno : EIO;
    if (ferror(file)) {
        free(text);
        text = NULL;
    }
    (void)fclose(file); /* it was only read */
    errno = reason;
    return text;
}
