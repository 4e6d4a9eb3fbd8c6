#include "journal_survivor.h"

#include "checkpoint.h"
#include "info.h"
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool name_sidecars(Journal *journal)
{
    const char *path = journal->rows.path;
    journal->sidecar = atomic_file_name(path, ".json");
    journal->sidecar_partial = atomic_file_name(path, ".json.partial");
    journal->sidecar_new = atomic_file_name(path, ".json.new");
    journal->checkpoints = atomic_file_name(path, CHECKPOINT_SUFFIX);
    return journal->checkpoints != NULL && journal->sidecar != NULL &&
           journal->sidecar_partial != NULL && journal->sidecar_new != NULL;
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
    *text = malloc(room + 1);
    if (*text == NULL) {
        return memory_fault();
    }
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

static size_t whole_lines(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        count += text[i] == '\n';
    }
    return count;
}

/* Rows in FILE.partial, torn or whole. */
static size_t rows_left(const Journal *journal)
{
    return whole_lines(journal->text + journal->header, journal->size - journal->header);
}

/* Seconds from the sidecar, written first, to the last row or checkpoint. */
static double work_left(const Journal *journal)
{
    struct stat rows, sidecar, checkpoints;
    if (stat(journal->rows.partial, &rows) != 0 || stat(journal->sidecar_partial, &sidecar) != 0) {
        return 0;
    }
    bool kept = stat(journal->checkpoints, &checkpoints) == 0;
    time_t last = kept && difftime(checkpoints.st_mtime, rows.st_mtime) > 0 ? checkpoints.st_mtime
                                                                            : rows.st_mtime;
    return difftime(last, sidecar.st_mtime);
}

/* A run that does not resume: short work is dropped, long work is refused. */
static int drop_leftover(Journal *journal)
{
    const char *partial = journal->rows.partial;
    size_t rows = rows_left(journal);
    double seconds = work_left(journal);
    if (seconds >= JOURNAL_WORTH_SECONDS) {
        fprintf(stderr,
                "headproof: %s: %zu rows of an interrupted run, %.0f minutes of work: --resume "
                "goes on with them, rm '%s' discards them\n",
                partial, rows, seconds / 60, partial);
        return 2;
    }
    if (rows > 0) {
        fprintf(stderr,
                "headproof: %s: %zu rows of an interrupted run are dropped (--resume would have "
                "kept them)\n",
                partial, rows);
    }
    journal->rows.kept = false;
    journal->size = journal->header = journal->length = 0;
    return 0;
}

static int refuse(const char *path, const char *why, const char *remedy)
{
    fprintf(stderr, "headproof: %s: cannot be resumed: %s; %s\n", path, why, remedy);
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
    char remedy[1024], difference[DIFFERENCE_TEXT];
    snprintf(remedy, sizeof remedy, "rm '%s' to start anew", journal->rows.partial);
    if (sidecar == NULL) {
        return refuse(journal->rows.partial, "no .json.partial beside it says what run it is of",
                      remedy);
    }
    if (!sidecar_fits(difference, sidecar, run)) {
        return *difference == '\0' ? facts_fault()
                                   : refuse(journal->rows.partial, difference, remedy);
    }
    return 0;
}

static int read_complete(Journal *journal)
{
    FILE *file = fopen(journal->rows.path, "r");
    if (file == NULL) {
        return atomic_file_failed(journal->rows.path);
    }
    free(journal->text);
    journal->text = NULL;
    int status = read_all(&journal->text, &journal->size, fileno(file), journal->rows.path);
    (void)fclose(file); /* it was only read */
    if (status == 0) {
        journal->header = header_length(journal->text, journal->size);
        journal->complete = true;
    }
    return status;
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
    return read_complete(journal);
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

/* What is there: FILE.partial's rows, or FILE, or nothing (a run that was stopped before its first
 * point has left a sidecar that fits). */
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

int journal_open_survivor(Journal *journal, const char *path, bool resume, const RunRecord *run)
{
    struct stat sidecar, partial;
    int status = atomic_file_open_kept(&journal->rows, path);
    if (status != 0) {
        return status;
    }
    if (!name_sidecars(journal)) {
        return memory_fault();
    }
    bool there = stat(journal->sidecar, &sidecar) == 0;
    bool too_long = stat(journal->sidecar_partial, &partial) != 0 && errno == ENAMETOOLONG;
    if (too_long || (there && !S_ISREG(sidecar.st_mode))) {
        complain((Origin){.flag = journal->rows.flag}, path,
                 "expected that %s can be written beside it", journal->sidecar);
        return 2;
    }
    status =
        read_all(&journal->text, &journal->size, fileno(journal->rows.file), journal->rows.partial);
    if (status != 0) {
        return status;
    }
    /* Until this run begins to write, what is there stays as it is. */
    journal->header = header_length(journal->text, journal->size);
    journal->length = journal->size;
    json_t *started = sidecar_load(journal->sidecar_partial);
    status = started == NULL && file_fault(errno) == 99 ? cannot_read(journal->sidecar_partial)
                                                        : finish_renames(journal, &started);
    if (status == 0) {
        status = resume ? take_up(journal, started, run) : drop_leftover(journal);
    }
    json_decref(started);
    return status;
}
