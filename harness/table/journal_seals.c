/*
 * What proves the rows of an interrupted run: a line for every point behind the run's sidecar.
 */
#include "journal_seals.h"

#include "../base/digest.h"
#include "../base/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Behind the whole line that begins at `from`; NULL: there is none. */
static const char *behind_line(const Seals *seals, size_t from)
{
    const char *newline = memchr(seals->text + from, '\n', seals->size - from);
    return newline == NULL ? NULL : newline + 1;
}

/* Of all seals; what follows a digest is a blank and a number. */
static void add_seconds(Seals *seals)
{
    size_t from = seals->used;
    seals->seconds = 0;
    for (const char *next; (next = behind_line(seals, from)) != NULL;) {
        const char *line = seals->text + from;
        double seconds = next - line > DIGEST_TEXT ? strtod(line + DIGEST_TEXT - 1, NULL) : -1;
        seals->seconds = seconds >= 0 && seals->seconds >= 0 ? seals->seconds + seconds : -1;
        from = (size_t)(next - seals->text);
    }
}

json_t *seals_load(Seals *seals, const char *path)
{
    json_error_t end;
    size_t size;
    char *text = file_text(&size, path);
    if (text == NULL) {
        return NULL;
    }
    free(seals->text);
    seals->text = text;
    seals->size = size;
    json_t *sidecar = json_loadb(seals->text, seals->size, JSON_DISABLE_EOF_CHECK, &end);
    seals->used = sidecar != NULL ? (size_t)end.position : seals->size;
    seals->last = digest_bytes(DIGEST_START, seals->text, seals->used);
    seals->used += seals->used < seals->size && seals->text[seals->used] == '\n';
    add_seconds(seals);
    if (sidecar != NULL && !json_is_object(sidecar)) {
        json_decref(sidecar);
        sidecar = NULL;
    }
    errno = 0;
    return sidecar;
}

bool seals_has_next(const Seals *seals)
{
    return seals->text != NULL && behind_line(seals, seals->used) != NULL;
}

Seal seals_take(Seals *seals, const char *rows, size_t length)
{
    if (!seals_has_next(seals)) {
        return SEAL_MISSING;
    }
    char digest[DIGEST_TEXT];
    uint64_t next = digest_bytes(seals->last, rows, length);
    digest_print(digest, next);
    if (strncmp(seals->text + seals->used, digest, DIGEST_TEXT - 1) != 0) {
        return SEAL_BROKEN;
    }
    seals->last = next;
    seals->used = (size_t)(behind_line(seals, seals->used) - seals->text);
    return SEAL_RIGHT;
}

int seals_begin(Seals *seals, const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && (seals->used == seals->size || ftruncate(fd, (off_t)seals->used) == 0);
    if (!ok || (seals->file = fdopen(fd, "a")) == NULL) {
        int reason = errno;
        (void)(fd >= 0 && close(fd)); /* nothing was written */
        errno = reason;
        return -1;
    }
    return 0;
}

int seals_append(Seals *seals, const char *rows, size_t length, double seconds)
{
    char digest[DIGEST_TEXT];
    seals->last = digest_bytes(seals->last, rows, length);
    digest_print(digest, seals->last);
    return fprintf(seals->file, "%s %.3f\n", digest, seconds) < 0 ? -1 : 0;
}

int seals_sync(Seals *seals)
{
    return fflush(seals->file) != 0 || fsync(fileno(seals->file)) != 0 ? -1 : 0;
}

void seals_clear(Seals *seals)
{
    free(seals->text);
    if (seals->file != NULL) {
        (void)fclose(seals->file); /* what is not on disk is of points that do not count */
    }
    *seals = (Seals){0};
}
