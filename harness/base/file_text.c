/*
 * A file read whole.
 */
#include "file_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM_FIRST = 1 << 16 };

/* Room for as much again, unless there is room.  NULL: memory is short, and text is freed. */
static char *make_room(char *text, size_t *room, size_t size)
{
    if (text != NULL && *room - size > *room / 2) {
        return text;
    }
    *room = text == NULL ? ROOM_FIRST : 2 * *room;
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
        text = make_room(text, &room, *size);
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
