/*
 * A journal: what an interrupted run left, what is added, and the table in the end.
 */
#include "journal.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* text [size]: what was there, in FILE.partial, or in a complete FILE.  last, next: in the former,
 * before and behind the point that was read last; end: of what is to stay in FILE.partial, first:
 * of its first line.  seed: that line's digest.  passed: all points of a complete FILE did. */
struct Journal {
    AtomicFile file;
    char *text;
    size_t size, last, next, first, end;
    uint64_t seed;
    bool complete, passed, writing;
};

/* ---- Points ---------------------------------------------------------------------------------- */

/* text = a point's digest; line: what stands behind it, with the newline. */
static void print_digest(char text[DIGEST_TEXT], uint64_t seed, const char *line, size_t length,
                         const JournalPoint *point)
{
    uint64_t digest = digest_bytes(seed, line, length);
    digest_print(text, digest_bytes(digest, point->rows, point->length));
}

enum { LINE_TEXT = 128 };

/* Moves *next behind the point there. */
static bool read_point(JournalPoint *point, bool *broken, const Journal *journal, size_t *next)
{
    const char *line = journal->text + *next, *end = journal->text + journal->size;
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    char head[LINE_TEXT], written[DIGEST_TEXT] = "", digest[DIGEST_TEXT];
    int used = 0;
    *broken = false;
    if (newline == NULL) {
        return false;
    }
    point->rows = newline + 1;
    /* Of the line alone: sscanf looks for the end of its text, which is that of all points. */
    snprintf(head, sizeof head, "%.*s", (int)(newline - line < LINE_TEXT ? newline - line : 0),
             line);
    *broken = sscanf(head, "%16[0-9a-f] %zu %zu %lf%n", written, &point->index, &point->length,
                     &point->seconds, &used) != 4 ||
              line + used != newline || strlen(written) != DIGEST_TEXT - 1;
    if (*broken || point->length > (size_t)(end - point->rows)) {
        return false;
    }
    line += DIGEST_TEXT - 1;
    print_digest(digest, journal->seed, line, (size_t)(point->rows - line), point);
    if (strcmp(digest, written) != 0) {
        *broken = point->rows + point->length < end; /* the last one was perhaps not on disk */
        return false;
    }
    *next = (size_t)(point->rows + point->length - journal->text);
    return true;
}

bool journal_next(Journal *journal, JournalPoint *point, bool *broken)
{
    *broken = false;
    if (journal->complete || journal->text == NULL) {
        return false;
    }
    journal->last = journal->next;
    bool there = read_point(point, broken, journal, &journal->next);
    journal->end = journal->next;
    return there;
}

size_t journal_line(const Journal *journal, const char *at)
{
    size_t before = at != NULL ? (size_t)(at - journal->text) : journal->last;
    return text_lines(journal->text, before) + 1;
}

/* ---- What is there --------------------------------------------------------------------------- */

/* Reads FILE.partial up to its points.  The sidecar in its first line, or NULL.  0; 99 after a
 * message. */
static int read_partial(Journal *journal, json_t **started)
{
    journal->text = atomic_file_text(&journal->file, &journal->size);
    if (journal->text == NULL) {
        fprintf(stderr, "headproof: %s: cannot be read: %s\n", shown(journal->file.partial).text,
                strerror(errno));
        return 99;
    }
    const char *newline = memchr(journal->text, '\n', journal->size);
    journal->first = newline == NULL ? journal->size : (size_t)(newline - journal->text) + 1;
    journal->next = journal->first;
    journal->end = journal->size; /* until this run begins to write, what is there stays */
    journal->seed = digest_bytes(DIGEST_START, journal->text, journal->first);
    *started = json_loadb(journal->text, journal->first, 0, NULL);
    return 0;
}

/* Nothing is gone on with. */
static void forget(Journal *journal)
{
    journal->file.kept = false;
    journal->size = journal->next = journal->end = journal->first;
}

/* The command that removes FILE.partial, and what a run was about to write, to be pasted. */
static void print_remove(const AtomicFile *file)
{
    const char *const names[] = {file->partial, file->fresh, file->beside_fresh};
    fputs(*file->path == '-' ? "rm --" : "rm", stderr);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (access(names[i], F_OK) == 0) {
            putc(' ', stderr);
            shown_write(stderr, SHOWN_SHELL, names[i]);
        }
    }
}

/* A run that does not resume: short work is dropped, long work is refused. */
static int drop_leftover(Journal *journal)
{
    const char *partial = journal->file.partial;
    JournalPoint point;
    size_t next = journal->next, rows = 0;
    double seconds = 0;
    bool broken;
    while (read_point(&point, &broken, journal, &next)) {
        rows += text_lines(point.rows, point.length);
        seconds += point.seconds;
    }
    if (broken || seconds >= JOURNAL_WORTH_SECONDS) {
        fprintf(stderr, "headproof: %s: %zu rows of an interrupted run, ", shown(partial).text,
                rows);
        if (broken) {
            fputs("nobody knows how much work", stderr);
        } else {
            fprintf(stderr, "%.0f minutes of work", seconds / 60);
        }
        fputs(broken ? ": " : ": --resume goes on with them, ", stderr);
        print_remove(&journal->file);
        fputs(" discards them\n", stderr);
        return 2;
    }
    if (rows > 0) {
        fprintf(stderr,
                "headproof: %s: %zu rows of an interrupted run are dropped (--resume would have "
                "kept them)\n",
                shown(partial).text, rows);
    }
    forget(journal);
    return 0;
}

/* remedy NULL: to remove FILE.partial. */
static int refuse(const Journal *journal, const char *path, const char *why, const char *remedy)
{
    fprintf(stderr, "headproof: %s: cannot be resumed: %s; ", shown(path).text, shown(why).text);
    if (remedy == NULL) {
        print_remove(&journal->file);
        remedy = " to start anew";
    }
    fprintf(stderr, "%s\n", remedy);
    return 2;
}

#define REPLACED "without --resume it is replaced"

/* FILE is there, of a run like this, and its bytes are those that its sidecar was written with.  0;
 * 2 or 99 after a message. */
static int read_complete(Journal *journal, const json_t *sidecar, const RunRecord *run)
{
    char difference[DIFFERENCE_TEXT] = "", why[DIFFERENCE_TEXT + 32];
    const char *path = journal->file.path;
    if (sidecar == NULL) {
        return refuse(journal, path,
                      "it is complete, and no .json beside it says what run it is of", REPLACED);
    }
    if (!sidecar_fits(difference, sidecar, run)) {
        snprintf(why, sizeof why, "it is complete, of %s", difference);
        return *difference == '\0' ? facts_fault() : refuse(journal, path, why, REPLACED);
    }
    free(journal->text);
    journal->text = file_text(&journal->size, path);
    if (journal->text == NULL) {
        return atomic_file_failed(path);
    }
    if (!sidecar_is_of(sidecar, journal->text, journal->size)) {
        return refuse(journal, path,
                      "it is complete, but its bytes are not those that its .json was written "
                      "with: it was edited, or another file took its place",
                      REPLACED);
    }
    return 0;
}

/* The same, where there is no point of a FILE.partial. */
static int take_complete(Journal *journal, const RunRecord *run)
{
    json_t *sidecar;
    int status = sidecar_beside(&sidecar, journal->file.path);
    status = status != 0 ? status : read_complete(journal, sidecar, run);
    if (status == 0) {
        size_t i;
        const json_t *point;
        journal->complete = journal->passed = true;
        json_array_foreach(json_object_get(sidecar, "points"), i, point)
        {
            journal->passed = journal->passed && json_is_true(json_object_get(point, "passed"));
        }
    }
    json_decref(sidecar);
    return status;
}

/* Takes up what is there: points, FILE, or nothing (a run that was stopped before its first point
 * has left a line that fits). */
static int take_up(Journal *journal, const json_t *started, const RunRecord *run)
{
    char difference[DIFFERENCE_TEXT] = "";
    bool fits = started != NULL && sidecar_fits(difference, started, run);
    if (journal->first < journal->size && !fits) {
        return started == NULL       ? refuse(journal, journal->file.partial,
                                              "its first line does not say what run it is of", NULL)
               : *difference == '\0' ? facts_fault()
                                     : refuse(journal, journal->file.partial, difference, NULL);
    }
    if (fits || access(journal->file.path, F_OK) != 0) {
        return 0;
    }
    forget(journal);
    return take_complete(journal, run);
}

int journal_open(Journal **journal, const char *flag, const char *path, bool resume,
                 const RunRecord *run)
{
    json_t *started = NULL;
    Journal *made = need_zeros(1, sizeof *made);
    made->file = (AtomicFile){.flag = flag, .table = true, .kept = true};
    int status = atomic_file_open(&made->file, path);
    status = status != 0 ? status : read_partial(made, &started);
    status = status != 0 ? status : resume ? take_up(made, started, run) : drop_leftover(made);
    json_decref(started);
    if (status != 0) {
        journal_clear(made);
        made = NULL;
    }
    *journal = made;
    return status;
}

const char *journal_complete(const Journal *journal, size_t *size)
{
    *size = journal->size;
    return journal->complete ? journal->text : NULL;
}

bool journal_passed(const Journal *journal)
{
    return journal->passed;
}

bool journal_survives(const Journal *journal)
{
    return journal->end > journal->first;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int write_bytes(Journal *journal, const char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t got = write(journal->file.held, bytes + done, count - done);
        if (got < 0 && errno != EINTR) {
            return -1;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* The first line, over what begins with the mark at any moment.  0, or -1 (errno). */
static int write_first(Journal *journal, const RunRecord *run)
{
    int fd = journal->file.held;
    json_t *sidecar = sidecar_value(run, NULL);
    char *line = sidecar == NULL ? NULL : json_dumps(sidecar, JSON_COMPACT);
    json_decref(sidecar);
    if (line == NULL) {
        return -1;
    }
    size_t length = strlen(line);
    line[length] = '\n'; /* over the NUL */
    journal->first = journal->end = length + 1;
    journal->seed = digest_bytes(DIGEST_START, line, length + 1);
    bool written = ftruncate(fd, (off_t)strlen(OWN_MARK)) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
                   write_bytes(journal, line, length + 1) == 0 && fsync(fd) == 0 &&
                   atomic_file_sync_directory(journal->file.path) == 0;
    free(line);
    return written ? 0 : -1;
}

int journal_begin(Journal *journal, const RunRecord *run)
{
    int fd = journal->file.held;
    off_t end = (off_t)journal->end;
    journal->writing = journal->file.kept = true;
    if (!journal_survives(journal)) {
        return write_first(journal, run) == 0 ? 0 : atomic_file_failed(journal->file.path);
    }
    bool ready = ftruncate(fd, end) == 0 && lseek(fd, end, SEEK_SET) == end;
    return ready ? 0 : atomic_file_failed(journal->file.path);
}

int journal_append(Journal *journal, const JournalPoint *point)
{
    char line[LINE_TEXT] = "", digest[DIGEST_TEXT];
    size_t room = DIGEST_TEXT - 1;
    int length = snprintf(line + room, sizeof line - room, " %zu %zu %.3f\n", point->index,
                          point->length, point->seconds);
    print_digest(digest, journal->seed, line + room, (size_t)length, point);
    memcpy(line, digest, room);
    room += (size_t)length;
    if (write_bytes(journal, line, room) != 0 ||
        write_bytes(journal, point->rows, point->length) != 0) {
        return -1;
    }
    journal->end += room + point->length;
    return 0;
}

int journal_sync(Journal *journal)
{
    return fsync(journal->file.held);
}

/* The table from the journal's text.  0, or -1 (errno). */
static int write_table(Journal *journal, const char *header, const RunRecord *run)
{
    const SweepRecord *sweep = run->sweep;
    free(journal->text);
    journal->text = atomic_file_text(&journal->file, &journal->size);
    if (journal->text == NULL || journal_table(journal) == NULL) {
        return -1;
    }
    JournalPoint point, *points = need_zeros(run->grid->count + 1, sizeof *points);
    FILE *file = journal->file.file;
    bool broken, whole = fputs(header, file) >= 0;
    size_t next = journal->first;
    while (read_point(&point, &broken, journal, &next)) {
        if (point.index < run->grid->count) {
            points[point.index] = point;
        }
    }
    for (size_t i = 0; i < sweep->count && whole; i++) {
        point = points[sweep->points[i]];
        whole = point.length > 0 && fwrite(point.rows, 1, point.length, file) == point.length;
        errno = point.length > 0 ? errno : EIO; /* what was written is not what is read */
    }
    free(points);
    return whole ? 0 : -1;
}

FILE *journal_table(Journal *journal)
{
    AtomicFile *file = &journal->file;
    return file->file != NULL || atomic_file_begin(file) == 0 ? file->file : NULL;
}

int journal_finish(Journal *journal, const char *header, const RunRecord *run)
{
    bool whole = (header == NULL || write_table(journal, header, run) == 0) &&
                 sidecar_publish(&journal->file, run) == 0;
    return whole ? 0 : atomic_file_failed(journal->file.path);
}

void journal_clear(Journal *journal)
{
    if (journal == NULL) {
        return;
    }
    AtomicFile *file = &journal->file;
    if (file->held != 0 && file->partial != NULL) {
        /* What was never written to is another run's, but for one that holds the mark alone; what
         * could not be read may have rows. */
        bool rows = journal->text == NULL || journal->end > strlen(OWN_MARK);
        file->kept = journal->writing ? journal_survives(journal) : file->found && rows;
        if (journal->writing && file->kept) {
            /* Half a point goes; where that fails, a run that resumes drops it. */
            (void)!ftruncate(file->held, (off_t)journal->end);
        }
    }
    atomic_file_clear(file);
    free(journal->text);
    free(journal);
}
