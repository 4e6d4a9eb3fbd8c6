/*
 * A journal's writing.
 */
#include "journal.h"

#include "journal_survivor.h"

#include "../../memory/need.h"
#include "../base/digest.h"
#include "../base/message.h"
#include "../base/own_file.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int journal_open(Journal **journal, const char *flag, const char *path, bool resume,
                 const RunRecord *run)
{
    Journal *made = need_zeros(1, sizeof *made);
    *journal = NULL;
    made->rows.flag = flag;
    int status = journal_open_survivor(made, path, resume, run);
    if (status != 0) {
        journal_clear(made);
        return status;
    }
    *journal = made;
    return 0;
}

const char *journal_rows(const Journal *journal, size_t *size)
{
    *size = journal->text == NULL ? 0 : journal->size - journal->header;
    return journal->text == NULL ? "" : journal->text + journal->header;
}

bool journal_has_header(const Journal *journal, const char *header)
{
    bool there = journal->text != NULL && journal->size > 0;
    return !there || (strlen(header) == journal->header &&
                      memcmp(journal->text, header, journal->header) == 0);
}

bool journal_take(Journal *journal, const char *rows, size_t length, bool *broken)
{
    Seal seal = journal->proven ? SEAL_RIGHT : seals_take(&journal->seals, rows, length);
    *broken = seal == SEAL_BROKEN;
    return seal == SEAL_RIGHT;
}

bool journal_has_more(const Journal *journal)
{
    return journal->proven || seals_has_next(&journal->seals);
}

bool journal_is_complete(const Journal *journal)
{
    return journal->complete;
}

bool journal_survives(const Journal *journal)
{
    return journal->length > journal->header;
}

/* Writes the sidecar to FILE.json.partial, which is whole at any moment. */
static int write_sidecar(Journal *journal, const RunRecord *run)
{
    int fd = own_file_create(journal->sidecar_new), status = -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd < 0) {
        return -1; /* what is there is not this run's to remove */
    }
    if (file == NULL) {
        (void)close(fd); /* nothing was written */
    } else {
        status = sidecar_write(file, run) != 0 || atomic_file_flush(file) != 0 ||
                         fsync(fileno(file)) != 0
                     ? -1
                     : 0;
        int reason = errno;
        status = fclose(file) != 0 && status == 0 ? -1 : status;
        errno = status != 0 && reason != 0 ? reason : errno;
    }
    status = status != 0 ? status : rename(journal->sidecar_new, journal->sidecar_partial);
    if (status != 0) {
        int reason = errno;
        (void)unlink(journal->sidecar_new);
        errno = reason;
    }
    return status;
}

static int write_bytes(Journal *journal, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t got = write(fileno(journal->rows.file), bytes + done, count - done);
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    journal->length += count;
    return 0;
}

/* The sidecar that the seals stand behind is this run's, or is gone on with. */
static int begin_seals(Journal *journal, bool fresh)
{
    json_t *sidecar = fresh ? seals_load(&journal->seals, journal->sidecar_partial) : NULL;
    bool ok = !fresh || sidecar != NULL;
    json_decref(sidecar);
    return ok ? seals_begin(&journal->seals, journal->sidecar_partial) : -1;
}

int journal_begin(Journal *journal, size_t kept, const char *header, const RunRecord *run)
{
    int fd = fileno(journal->rows.file);
    size_t length = kept > 0 ? journal->header + kept : 0;
    off_t left = kept > 0 ? (off_t)length : 1; /* an empty file would be nobody's */
    journal->writing = true;
    if (ftruncate(fd, left) != 0 || lseek(fd, (off_t)length, SEEK_SET) < 0) {
        return atomic_file_failed(journal->rows.path);
    }
    journal->length = length;
    journal->begun = kept == 0;
    if ((kept == 0 && write_sidecar(journal, run) != 0) || begin_seals(journal, kept == 0) != 0) {
        return atomic_file_failed(journal->sidecar);
    }
    if (kept > 0) {
        return 0;
    }
    journal->header = strlen(header);
    if (write_bytes(journal, header, journal->header) != 0 || fsync(fd) != 0 ||
        atomic_file_sync_directory(journal->rows.path) != 0) {
        return atomic_file_failed(journal->rows.path);
    }
    return 0;
}

int journal_append(Journal *journal, const char *rows, size_t length, double seconds)
{
    return seals_append(&journal->seals, rows, length, seconds) != 0
               ? -1
               : write_bytes(journal, rows, length);
}

int journal_sync(Journal *journal)
{
    return seals_sync(&journal->seals) != 0 ? -1 : fsync(fileno(journal->rows.file));
}

int journal_finish(Journal *journal, const RunRecord *run)
{
    AtomicFile *rows = &journal->rows;
    char digest[DIGEST_TEXT];
    RunRecord whole = *run;
    whole.digest = digest;
    if (digest_descriptor(digest, fileno(rows->file)) != 0 || write_sidecar(journal, &whole) != 0) {
        return atomic_file_failed(journal->sidecar);
    }
    if (atomic_file_sync(rows) != 0 || atomic_file_publish(rows) != 0) {
        return atomic_file_failed(rows->path);
    }
    if (rename(journal->sidecar_partial, journal->sidecar) != 0) {
        return atomic_file_failed(journal->sidecar);
    }
    return atomic_file_sync_directory(rows->path) != 0 || atomic_file_close(rows) != 0
               ? atomic_file_failed(rows->path)
               : 0;
}

/* FILE.partial of a run that wrote to it, and did not end. */
static void leave_written(Journal *journal)
{
    AtomicFile *rows = &journal->rows;
    rows->kept = journal_survives(journal);
    if (rows->kept) {
        /* Half a point goes; where that fails, a run that resumes drops it. */
        (void)!ftruncate(fileno(rows->file), (off_t)journal->length);
    }
    if (!rows->kept && journal->begun) {
        (void)unlink(journal->sidecar_partial);
    }
}

/* FILE.partial of a run that was refused, or found FILE complete: what is in it is another's, and
 * was perhaps never read.  One that holds the mark alone is its own. */
static void leave_untouched(Journal *journal)
{
    struct stat found;
    journal->rows.kept = fstat(fileno(journal->rows.file), &found) != 0 ||
                         found.st_size > (off_t)strlen(OWN_FILE_MARK);
}

void journal_clear(Journal *journal)
{
    if (journal == NULL) {
        return;
    }
    AtomicFile *rows = &journal->rows;
    if (rows->file != NULL && rows->partial != NULL) {
        (journal->writing ? leave_written : leave_untouched)(journal);
    }
    atomic_file_clear(rows);
    seals_clear(&journal->seals);
    free(journal->sidecar);
    free(journal->sidecar_partial);
    free(journal->sidecar_new);
    free(journal->text);
    free(journal);
}

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
