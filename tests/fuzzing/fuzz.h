/*
 * Subjects of fuzzing: a subject is a reader of input that others made, with the promises that hold
 * whatever the input is.
 *
 * `make fuzz` runs the subjects by libFuzzer (fuzz_driver.c), test_fuzz over the corpus in
 * tests/corpus/SUBJECT and some thousand changes of it.  They run in a directory of their own, the
 * current one, which holds nothing else.
 *
 * Inputs are text with places for what hangs on the build or the machine, filled in at first
 * (fuzz_places.c), so that a corpus of a few lines serves all of them.
 */
#ifndef HEADPROOF_TESTS_FUZZING_FUZZ_H
#define HEADPROOF_TESTS_FUZZING_FUZZ_H

#include "../scratch.h"

#include "../../harness/commands/commands.h"

#include <stdint.h>

enum { FUZZ_SAID = 1 << 16, FUZZ_WHY = 1024, FUZZ_SAVED = 3 };

/* Bytes, and a NUL behind them. */
typedef struct {
    char *bytes;
    size_t size;
} FuzzText;

/* A table and its sidecar. */
typedef struct {
    FuzzText rows, sidecar;
} FuzzSaved;

/* directory: where subjects run.  said [said_length]: what was printed on stderr between
 * fuzz_listen and fuzz_hear.  why: the promise that was broken.
 * skipped: the last input says nothing.
 * saved: a small sweep, and two shards of it, for places. */
typedef struct {
    char directory[SCRATCH_PATH], before[SCRATCH_PATH];
    char said[FUZZ_SAID + 1], why[FUZZ_WHY];
    size_t said_length;
    int heard, silent, saved_out, saved_err;
    bool skipped;
    FuzzSaved saved[FUZZ_SAVED];
} Fuzz;

/* Takes one input.  NULL, or fuzz->why: the promise that was broken. */
typedef const char *FuzzRun(Fuzz *fuzz, const uint8_t *bytes, size_t size);

/* prepare: NULL where there is nothing to do.  repair: of a changed input, what would be refused at
 * once; or NULL.  places: inputs have them. */
typedef struct {
    const char *name;
    void (*prepare)(Fuzz *fuzz);
    FuzzRun *run;
    void (*repair)(uint8_t *bytes, size_t size);
    bool places;
} FuzzSubject;

extern const FuzzSubject fuzz_values, fuzz_cases, fuzz_commands, fuzz_baselines, fuzz_merges,
    fuzz_journals, fuzz_models, fuzz_configs, fuzz_texts, fuzz_shapes;

/* All of them, up to a NULL. */
extern const FuzzSubject *const fuzz_subjects[];

/* ---- fuzz_world.c ------------------------------------------------------------------------ */

/* Makes the directory, goes there, and prepares. */
void fuzz_open(Fuzz *fuzz, const FuzzSubject *subject);
void fuzz_close(Fuzz *fuzz);

/* Ends the process where the tests' own surroundings fail. */
void fuzz_need(bool condition, const char *what);

/* fuzz->why, formatted; returns it. */
const char *fuzz_broken(Fuzz *fuzz, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This input says nothing: a fuzzer need not keep it. */
const char *fuzz_skip(Fuzz *fuzz);

/* Between these, stdout is thrown away and stderr kept. */
void fuzz_listen(Fuzz *fuzz);
void fuzz_hear(Fuzz *fuzz);

/* NULL when exactly one line was said, of printable text, that names `name`; lines
 * "headproof: warning: ..." and "headproof: NUMBER ..." (what is taken up) are not counted. */
const char *fuzz_expect_refusal(Fuzz *fuzz, const char *name);

/* Of files in the current directory; names are without a directory.  A file that is not there is
 * {NULL, 0}. */
void fuzz_write(const char *name, const void *bytes, size_t size);
FuzzText fuzz_read(const char *name);
void fuzz_remove(const char *name);
bool fuzz_same(const FuzzText *a, const FuzzText *b);

/* NULL when there is no file in the directory but names (up to a NULL) and those that begin so. */
const char *fuzz_expect_files(Fuzz *fuzz, const char *const *names);

/* A command of the program with its arguments, up to a NULL, in this process; what it says is
 * heard. */
int fuzz_run(Fuzz *fuzz, const char *const *words);

/* ---- fuzz_places.c ----------------------------------------------------------------------- */

/* An input with its places filled in; free its bytes.  Places begin and end with @:
 *   table            the small sweep's table: a header and FUZZ_ROWS rows
 *   header, row N    of it, without their newline
 *   row N COLUMN=TEXT...   the row with other cells
 *   sidecar          its sidecar; also with NAME=JSON... for keys at the top
 *   sidecar 1, 2     of its first or second shard
 *   journal          its sidecar on one line
 *   fact NAME        of this build and machine, as JSON */
FuzzText fuzz_fill(const Fuzz *fuzz, const uint8_t *bytes, size_t size);

enum { FUZZ_ROWS = 3 };

/* The flags of the small sweep, up to a NULL. */
extern const char *const fuzz_small_sweep[];

/* The next part of an input "== NAME\n" TEXT "== NAME\n" ...: *name is one of names (up to a NULL),
 * or NULL where a part has another.  False: no more. */
typedef struct {
    const char *next, *end;
    const char *name, *text;
    size_t size;
} FuzzParts;
bool fuzz_next_part(FuzzParts *parts, const char *const *names);

/* ---- fuzz_points.c ----------------------------------------------------------------------- */

/* NULL when the command line of each of the first points of a grid stands for that point. */
const char *fuzz_expect_reproduced(Fuzz *fuzz, const Grid *grid);

#endif
