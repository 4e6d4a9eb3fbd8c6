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

bool text_ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

char *file_text(size_t *size, const char *path)
{
    char block[1 << 14], *text;
    FILE *file = fopen(path, "r");
    if (file == NULL && errno == ENOMEM) {
        need_is_short();
    }
    if (file == NULL) {
        return NULL;
    }
    FILE *copy = text_stream(&text, size);
    int reason = 0;
    while (!feof(file) && !ferror(file)) {
        errno = 0;
        size_t got = fread(block, 1, sizeof block, file);
        reason = errno != 0 ? errno : EIO;
        fwrite(block, 1, got, copy);
    }
    text_close(copy, &text);
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
