/*
 * The files that an earlier run left, and whether this one goes on with them.
 */
#include "journal_survivor.h"

#include "../../memory/need.h"
#include "../base/info.h"
#include "../base/message.h"
#include "../base/own_file.h"
#include "../base/shown.h"
#include "../base/text_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void name_sidecars(Journal *journal)
{
    const char *path = journal->rows.path;
    journal->sidecar = atomic_file_name(path, ".json");
    journal->sidecar_partial = atomic_file_name(path, ".json.partial");
    journal->sidecar_new = atomic_file_name(path, ".json.new");
}

/* All that is in an open file; *text ends in a NUL. */
static int read_all(char **text, size_t *size, int fd, const char *path)
{
    struct stat found;
    if (fstat(fd, &found) != 0) {
        return atomic_file_failed(path);
    }
    size_t room = (size_t)found.st_size;
    *size = 0;
    *text = need_room(room + 1, 1);
    for (ssize_t got = 1; got > 0 && *size < room; *size += (size_t)got) {
        got = pread(fd, *text + *size, room - *size, (off_t)*size);
        if (got < 0) {
            return atomic_file_failed(path);
        }
    }
    (*text)[*size] = '\0';
    return 0;
}

/* Behind the first line; the size where there is no whole line. */
static size_t header_length(const char *text, size_t size)
{
    const char *newline = memchr(text, '\n', size);
    return newline == NULL ? size : (size_t)(newline - text) + 1;
}

/* Rows in FILE.partial, torn or whole. */
static size_t rows_left(const Journal *journal)
{
    return text_lines(journal->text + journal->header, journal->size - journal->header);
}

/* Seconds that went into all points of a run that had evaluated them all, but for its last steps;
 * negative when it did not measure them itself. */
static double work_recorded(const json_t *sidecar)
{
    const json_t *point, *points = json_object_get(sidecar, "points");
    double sum = 0;
    size_t i;
    json_array_foreach(points, i, point)
    {
        const json_t *seconds = json_object_get(point, "seconds");
        sum = json_is_number(seconds) && sum >= 0 ? sum + json_number_value(seconds) : -1;
    }
    return sum;
}

/* The command that removes a file, to be pasted. */
static void print_remove(const char *path)
{
    fputs(*path == '-' ? "rm -- " : "rm ", stderr);
    shown_write(stderr, SHOWN_SHELL, path);
}

/* Seconds that went into the sealed points that are there.  Negative when nobody knows: rows are
 * there without a seal. */
static double work_left(const Journal *journal, const json_t *started)
{
    if (json_is_true(json_object_get(started, "complete"))) {
        return rows_left(journal) > 0 ? work_recorded(started) : 0;
    }
    if (rows_left(journal) > 0 && !seals_has_next(&journal->seals)) {
        return -1;
    }
    return journal->seals.seconds < 0 ? -1 : journal->seals.seconds;
}

/* A run that does not resume: short work is dropped, long or unknown work is refused. */
static int drop_leftover(Journal *journal, const json_t *started)
{
    const char *partial = journal->rows.partial;
    size_t rows = rows_left(journal);
    double seconds = work_left(journal, started);
    if (seconds >= JOURNAL_WORTH_SECONDS || seconds < 0) {
        fprintf(stderr, "headproof: %s: %zu rows of an interrupted run, ", shown(partial).text,
                rows);
        if (seconds < 0) {
            fputs("nobody knows how much work", stderr);
        } else {
            fprintf(stderr, "%.0f minutes of work", seconds / 60);
        }
        fprintf(stderr, ": %s", started != NULL ? "--resume goes on with them, " : "");
        print_remove(partial);
        fputs(" discards them\n", stderr);
        return 2;
    }
    if (rows > 0) {
        fprintf(stderr,
                "headproof: %s: %zu rows of an interrupted run are dropped (--resume would have "
                "kept them)\n",
                shown(partial).text, rows);
    }
    journal->rows.kept = false;
    journal->size = journal->header = journal->length = 0;
    return 0;
}

#define ALTERED                                                                                    \
    "it is complete, but its bytes are not those that its .json was written with: it was edited, " \
    "or another file took its place"

/* remedy NULL: to remove the file. */
static int refuse(const char *path, const char *why, const char *remedy)
{
    fprintf(stderr, "headproof: %s: cannot be resumed: %s; ", shown(path).text, shown(why).text);
    if (remedy == NULL) {
        print_remove(path);
        remedy = " to start anew";
    }
    fprintf(stderr, "%s\n", remedy);
    return 2;
}

/* For errno's reason, which is the machine's. */
static int cannot_read(const char *path)
{
    fprintf(stderr, "headproof: %s: cannot be read: %s\n", path, strerror(errno));
    return 99;
}

/* Takes up FILE.partial, whose sidecar this is. */
static int take_partial(Journal *journal, const json_t *sidecar, const RunRecord *run)
{
    char difference[DIFFERENCE_TEXT];
    if (sidecar == NULL) {
        return refuse(journal->rows.partial, "no .json.partial beside it says what run it is of",
                      NULL);
    }
    if (!sidecar_fits(difference, sidecar, run)) {
        return *difference == '\0' ? facts_fault()
                                   : refuse(journal->rows.partial, difference, NULL);
    }
    /* Stopped in its last steps: the sidecar has the digest of all rows instead of their seals. */
    journal->proven = json_is_true(json_object_get(sidecar, "complete"));
    return journal->proven && !sidecar_is_of(sidecar, journal->text, journal->size)
               ? refuse(journal->rows.partial, ALTERED, NULL)
               : 0;
}

static int read_complete(Journal *journal)
{
    free(journal->text);
    journal->text = file_text(&journal->size, journal->rows.path);
    if (journal->text == NULL) {
        return atomic_file_failed(journal->rows.path);
    }
    journal->header = header_length(journal->text, journal->size);
    journal->complete = true;
    return 0;
}

/* FILE is there and no FILE.partial. */
static int take_complete(Journal *journal, const json_t *sidecar, const RunRecord *run)
{
    char difference[DIFFERENCE_TEXT];
    const char *path = journal->rows.path, *remedy = "without --resume it is replaced";
    if (sidecar == NULL) {
        return refuse(path, "it is complete, and no .json beside it says what run it is of",
                      remedy);
    }
    if (!sidecar_fits(difference, sidecar, run)) {
        char why[DIFFERENCE_TEXT + 32];
        if (*difference == '\0') {
            return facts_fault();
        }
        snprintf(why, sizeof why, "it is complete, of %s", difference);
        return refuse(path, why, remedy);
    }
    int status = read_complete(journal);
    if (status != 0) {
        return status;
    }
    journal->proven = sidecar_is_of(sidecar, journal->text, journal->size);
    return journal->proven ? 0 : refuse(path, ALTERED, remedy);
}

/* A run that was stopped between its two renames has left FILE, and its sidecar under the other
 * name. */
static int finish_renames(Journal *journal, json_t **started)
{
    bool finished = json_is_true(json_object_get(*started, "complete"));
    if (!finished || rows_left(journal) > 0 || access(journal->rows.path, F_OK) != 0) {
        return 0;
    }
    json_decref(*started);
    *started = NULL;
    return rename(journal->sidecar_partial, journal->sidecar) != 0
               ? atomic_file_failed(journal->sidecar)
               : 0;
}

/* Takes up the rows that are there: FILE.partial's, or FILE's, or none (a run that was stopped
 * before its first point has left a sidecar that fits). */
static int take_up(Journal *journal, const json_t *started, const RunRecord *run)
{
    char difference[DIFFERENCE_TEXT];
    if (rows_left(journal) > 0) {
        return take_partial(journal, started, run);
    }
    journal->rows.kept = false;
    journal->size = journal->header = journal->length = 0;
    bool begun = started != NULL && sidecar_fits(difference, started, run);
    if (begun || access(journal->rows.path, F_OK) != 0) {
        return 0;
    }
    json_t *sidecar = sidecar_load(journal->sidecar);
    int status = sidecar == NULL && file_fault(errno) == 99 ? cannot_read(journal->sidecar)
                                                            : take_complete(journal, sidecar, run);
    json_decref(sidecar);
    return status;
}

/* Refuses files beside the rows that are not the program's own; 0, or 2 after a message. */
static int claim_names(const Journal *journal, const char *path)
{
    const char *const names[] = {journal->sidecar, journal->sidecar_partial, journal->sidecar_new};
    struct stat found;
    if (lstat(journal->sidecar_partial, &found) != 0 && errno == ENAMETOOLONG) {
        return complain((Origin){.flag = journal->rows.flag}, path,
                        "expected that %s can be written beside it", journal->sidecar);
    }
    int status = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && status == 0; i++) {
        status = own_file_claim(journal->rows.flag, names[i]);
    }
    return status;
}

int journal_open_survivor(Journal *journal, const char *path, bool resume, const RunRecord *run)
{
    int status = atomic_file_open_kept(&journal->rows, path);
    if (status != 0) {
        return status;
    }
    name_sidecars(journal);
    status = claim_names(journal, path);
    if (status != 0) {
        return status;
    }
    status =
        read_all(&journal->text, &journal->size, fileno(journal->rows.file), journal->rows.partial);
    if (status != 0) {
        return status;
    }
    /* Until this run begins to write, what is there stays as it is. */
    journal->header = header_length(journal->text, journal->size);
    journal->length = journal->size;
    json_t *started = seals_load(&journal->seals, journal->sidecar_partial);
    status = started == NULL && file_fault(errno) == 99 ? cannot_read(journal->sidecar_partial)
                                                        : finish_renames(journal, &started);
    status = status != 0 ? status
             : resume    ? take_up(journal, started, run)
                         : drop_leftover(journal, started);
    json_decref(started);
    return status;
}
