/*
 * The sidecar FILE.json: how a results file came about.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SIDECAR_H
#define HEADPROOF_HARNESS_TABLE_SIDECAR_H

#include "../base/atomic_file.h"
#include "../base/digest.h"
#include "../base/info.h"
#include "../grid/grid.h"

#include <jansson.h>

/* The version of the table's columns and of the sidecar's keys: raised when a key comes that rows
 * depend on, or one of them goes or changes its meaning.  A column that comes is missed by its name
 * in older tables. */
#define SIDECAR_SCHEMA 6

/* A grid's identity: files of rows that agree in it can be put together.  points: the digest of the
 * key columns of every point, in order, each followed by a newline, and then identity_end; weights:
 * of the bytes of the files that weights come from, in order; "" without any. */
typedef struct {
    char points[DIGEST_TEXT], weights[DIGEST_TEXT];
} GridIdentity;

/* The digest of all points, of that of their keys, and whether --propagation gives their rows more
 * columns. */
uint64_t identity_end(uint64_t points, bool propagation);

/* A sweep's own part: which points of its grid it evaluates, for shard `shard` of `shards`, and how
 * each ended.  passed, seconds [grid->count]; negative seconds: not measured, the rows are from an
 * interrupted run.  ranks: the processes that took part besides this one, or NULL. */
typedef struct {
    GridIdentity identity;
    size_t *points; /* [count], ascending indices into the grid */
    size_t count, shard, shards;
    bool *passed;
    double *seconds;
    json_t *ranks;
    bool complete;
} SweepRecord;

/* A run.  grid NULL: what was run is not points (a benchmark).  seconds [grid->count] or NULL;
 * sweep NULL: it is none.  made: all of its sidecar but for the digest, where that is there
 * already, else NULL. */
typedef struct {
    int argc;
    char **argv;
    const Grid *grid;
    const double *seconds;
    const SweepRecord *sweep;
    json_t *made;
} RunRecord;

/* A record of all of the grid's points, none of which is evaluated yet; the shard is the options'.
 * 0; 2 or 99 after a message.  Clear it in every case. */
int sweep_record_open(SweepRecord *record, const Grid *grid, const RunOptions *run)
    __attribute__((warn_unused_result));
void sweep_record_clear(SweepRecord *record);

/* Schema, argv, date, the facts of info.h, what a verdict about each weights file is under, and the
 * points with their command line, seconds and verdict.  digest: of the table's bytes, or NULL: they
 * are not all written.  NULL (errno): what machine this is cannot
 * be read. */
json_t *sidecar_value(const RunRecord *run, const char *digest);

/* Completes a table: writes that beside it, where it has a sidecar, and publishes both.  0, or -1
 * (errno). */
int sidecar_publish(AtomicFile *file, const RunRecord *run) __attribute__((warn_unused_result));

/* Strings as they are shown in JSON (shown.h). */
json_t *sidecar_text(const char *text);
json_t *sidecar_arguments(int argc, char **argv);
json_t *sidecar_date(void);

/* The text of a key, "" where there is none. */
const char *sidecar_get(const json_t *sidecar, const char *key);

/* text: the digest of the weights files that its grid has, or "". */
void sidecar_weights(char text[DIGEST_TEXT], const json_t *sidecar);

/* Significant digits of the table's errors; REF_DIGITS_MOST where it does not say. */
int sidecar_digits(const json_t *sidecar);

/* Was it written with a table of that digest, or of exactly these bytes? */
bool sidecar_has_digest(const json_t *sidecar, uint64_t digest);
bool sidecar_is_of(const json_t *sidecar, const char *bytes, size_t size);

/* The sidecar in a file, or NULL when there is none; errno then says what file_fault asks. */
json_t *sidecar_load(const char *path);

/* The same beside a table; *sidecar NULL: there is none.  0; 99 after a message: it cannot be
 * read. */
int sidecar_beside(json_t **sidecar, const char *table) __attribute__((warn_unused_result));

/* Facts that the bytes of rows may depend on: NULL-terminated names. */
extern const char *const sidecar_decisive[];

#define DIFFERENCE_TEXT (2 * FACT_TEXT + 64)

/* False when a table with that sidecar has other columns than this program reads; text then says
 * so: "schema 2, this version reads schema 3". */
bool sidecar_schema_fits(char text[DIFFERENCE_TEXT], const json_t *sidecar)
    __attribute__((warn_unused_result));

/* True when rows with that sidecar may stand beside this run's; else text says what differs:
 * "version 0.1.0, this is 0.2.0"; "" (errno): what this machine is cannot be read. */
bool sidecar_fits(char text[DIFFERENCE_TEXT], const json_t *sidecar, const RunRecord *run)
    __attribute__((warn_unused_result));

/* True when those rows are of this run's sweep and version, if perhaps of another machine. */
bool sidecar_same_sweep(const json_t *sidecar, const RunRecord *run);

#endif
