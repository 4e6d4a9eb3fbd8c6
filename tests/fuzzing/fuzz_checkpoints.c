/*
 * Checkpoints: states of evaluations, as an interrupted run leaves them, changed.
 *
 * Input: the file's number, a mode, then changes of its state, 11 bytes each (Change).  In mode 0
 * the digest is made right again, so that what reads the state sees it: it is refused, or rows
 * come out.  In the other modes the file must be refused, and the rows are those without it.
 */
#include "fuzz.h"

#include "../../harness/evaluate/rows.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT "c.csv"
#define DIRECTORY OUTPUT CHECKPOINT_SUFFIX

enum { FILES_MOST = 16, NAME_TEXT = 512, CHANGE_BYTES = 11, CHANGES_MOST = 16 };
enum { MODE_REPAIRED, MODE_DIGEST, MODE_HEAD, MODES };

typedef struct {
    char name[NAME_TEXT];
    FuzzText text;
} File;

/* points of one case, and their rows. */
typedef struct {
    Grid grid;
    RunOptions run;
    GridIdentity identity;
    File files[FILES_MOST];
    size_t count;
    FuzzText rows;
} States;

static const char *const grid_arguments[] = {"sweep",
                                             "--construction",
                                             "attention",
                                             "--n",
                                             "2",
                                             "--d",
                                             "2",
                                             "--heads",
                                             "2",
                                             "--depth",
                                             "3",
                                             "--omega",
                                             "3,30",
                                             "--reference",
                                             "subtract,difference",
                                             "--threads",
                                             "1",
                                             "--quiet",
                                             "-o",
                                             OUTPUT,
                                             "--checkpoint",
                                             "0",
                                             NULL};

/* What a sweep does with a group of points; all rows one after another, or {NULL, 0}. */
static FuzzText evaluate(const States *states, bool resume)
{
    const Grid *grid = &states->grid;
    const Point *points[8];
    RunOptions run = states->run;
    Checkpoints *checkpoints;
    Shared *shared;
    FuzzText all = {NULL, 0};
    run.resume = resume;
    for (size_t i = 0; i < grid->count; i++) {
        points[i] = &grid->points[i];
    }
    fuzz_need(checkpoints_open(&checkpoints, &run, &states->identity) == 0, "checkpoints_open");
    bool ok = shared_make(&shared, points, grid->count, 1e9, checkpoints) == EVALUATE_OK;
    FILE *out = open_memstream(&all.bytes, &all.size);
    fuzz_need(out != NULL, "open_memstream");
    for (size_t i = 0; ok && i < grid->count; i++) {
        PointRows rows;
        ok = rows_evaluate(&rows, shared, points[i]) == EVALUATE_OK;
        if (ok) {
            fwrite(rows.text, 1, rows.length, out);
            rows_clear(&rows);
        }
    }
    fuzz_need(fclose(out) == 0, "open_memstream");
    if (!ok) {
        free(all.bytes);
        all = (FuzzText){NULL, 0};
    }
    shared_clear(shared);
    checkpoints_clear(checkpoints);
    return all;
}

static int compare_files(const void *a, const void *b)
{
    const File *left = a, *right = b;
    return strcmp(strchr(left->name + sizeof DIRECTORY, '-'),
                  strchr(right->name + sizeof DIRECTORY, '-'));
}

static void read_files(States *states)
{
    DIR *directory = opendir(DIRECTORY);
    const struct dirent *entry;
    fuzz_need(directory != NULL, DIRECTORY);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.' && strchr(entry->d_name, '-') != NULL) {
            File *file = &states->files[states->count++];
            snprintf(file->name, NAME_TEXT, "%s/%s", DIRECTORY, entry->d_name);
            file->text = fuzz_read(file->name);
            fuzz_need(states->count < FILES_MOST, "more checkpoints than expected");
        }
    }
    (void)closedir(directory);
    qsort(states->files, states->count, sizeof *states->files, compare_files);
}

/* No checkpoint in the directory. */
static void remove_files(const States *states)
{
    for (size_t i = 0; i < states->count; i++) {
        fuzz_remove(states->files[i].name);
    }
}

static void prepare(Fuzz *fuzz)
{
    States *states = calloc(1, sizeof *states);
    fuzz_need(states != NULL, "calloc");
    ref_thread_setup();
    fuzz_listen(fuzz);
    fuzz_grid(&states->grid, &states->run, COMMAND_SWEEP, grid_arguments);
    fuzz_need(grid_identify(&states->identity, &states->grid) == 0, "grid_identify");
    states->rows = evaluate(states, false);
    fuzz_hear(fuzz);
    fuzz_need(states->rows.bytes != NULL, "rows");
    read_files(states);
    remove_files(states);
    fuzz->own = states;
    states->run.checkpoint = 1e9; /* none is written from here on */
}

static void clear(Fuzz *fuzz)
{
    States *states = fuzz->own;
    for (size_t i = 0; i < states->count; i++) {
        free(states->files[i].text.bytes);
    }
    free(states->rows.bytes);
    grid_clear(&states->grid);
    free(states);
    ref_thread_clear();
}

/* One change of state [*size], which has room for 8 bytes more: what, where (16 bits), 8 bytes. */
static void change(char *state, size_t *size, const uint8_t *how)
{
    size_t at = *size == 0 ? 0 : ((size_t)how[1] | (size_t)how[2] << 8) % *size;
    size_t left = *size - at, width = left < 8 ? left : 8;
    switch (how[0] % 5) {
    case 0: memcpy(state + at, how + 3, width); break;
    case 1: memcpy(state + at, how + 3, width < 4 ? width : 4); break;
    case 2: memcpy(state + at, how + 3, width < 1 ? width : 1); break;
    case 3: *size = at; break;
    default:
        memcpy(state + *size, how + 3, 8);
        *size += 8;
        break;
    }
}

/* Writes the file with a state that is changed. */
static void write_changed(const File *file, int mode, const uint8_t *changes, size_t count)
{
    size_t head = strlen(file->text.bytes) + 1, size = file->text.size - head - sizeof(uint64_t);
    char *bytes = malloc(file->text.size + 8 * CHANGES_MOST);
    fuzz_need(bytes != NULL, "malloc");
    memcpy(bytes, file->text.bytes, file->text.size);
    for (size_t i = 0; i < count; i++) {
        change(bytes + head, &size, changes + i * CHANGE_BYTES);
    }
    bytes[mode == MODE_HEAD ? head / 2 : 0] ^= mode == MODE_HEAD;
    uint64_t digest = digest_bytes(DIGEST_START, bytes, head + size) ^ (mode == MODE_DIGEST);
    memcpy(bytes + head + size, &digest, sizeof digest);
    fuzz_write(file->name, bytes, head + size + sizeof digest);
    free(bytes);
}

/* Are there as many lines as without checkpoints, with the same beginning? */
static const char *expect_rows(Fuzz *fuzz, const States *states, const FuzzText *rows)
{
    const char *truth = states->rows.bytes, *now = rows->bytes;
    while (*truth != '\0') {
        const char *newline = strchr(now, '\n');
        if (newline == NULL || strncmp(truth, now, 20) != 0) {
            return fuzz_broken(fuzz, "other rows: %.60s", now);
        }
        truth = strchr(truth, '\n') + 1;
        now = newline + 1;
    }
    return *now == '\0' ? NULL : fuzz_broken(fuzz, "more rows: %.60s", now);
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    States *states = fuzz->own;
    if (size < 2) {
        return fuzz_skip(fuzz);
    }
    size_t count = (size - 2) / CHANGE_BYTES;
    int mode = bytes[1] % MODES;
    const File *file = &states->files[bytes[0] % states->count];
    write_changed(file, mode, bytes + 2, count < CHANGES_MOST ? count : CHANGES_MOST);
    fuzz_listen(fuzz);
    FuzzText rows = evaluate(states, true);
    fuzz_hear(fuzz);
    bool refused = strstr(fuzz->said, "warning: ") != NULL;
    const char *why = NULL;
    if (rows.bytes == NULL) {
        why = fuzz_broken(fuzz, "no rows: %s", fuzz->said);
    } else if (mode != MODE_REPAIRED && !refused) {
        why = fuzz_broken(fuzz, "damaged, and taken up: %s", fuzz->said);
    } else if ((refused || count == 0) && !fuzz_same(&rows, &states->rows)) {
        why = fuzz_broken(fuzz, "other rows than without a checkpoint");
    }
    why = why != NULL ? why : expect_rows(fuzz, states, &rows);
    free(rows.bytes);
    remove_files(states);
    return why;
}

const FuzzSubject fuzz_checkpoints = {
    .name = "checkpoints", .prepare = prepare, .run = run, .clear = clear};
