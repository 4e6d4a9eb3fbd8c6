/*
 * The insides of `headproof merge` (private to it): the files of shards as one run's.
 *
 *   merge.c         the command: rows of a sweep, each from one shard; the file, the verdict
 *   shards.c        which shards there are, and whether they fit together
 *   verify_rows.c   rows of verify, each from all of them
 *
 * Umbrella header: for all of these.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MERGE_MERGE_H
#define HEADPROOF_HARNESS_COMMANDS_MERGE_MERGE_H

#include "../../table/sidecar.h"
#include "../verify/columns.h"

/* text [size]: the file, with a NUL behind.  Of rows of verify, cell, row: of that at hand; next:
 * what is behind it. */
typedef struct {
    const char *path;
    char *text;
    size_t size;
    json_t *sidecar;
    size_t index;
    VerifyCells cell;
    VerifyRow row;
    char *next;
} ShardFile;

/* The rows of a point of the grid, in a shard's text; key: the length of their key; fact: what the
 * shard's sidecar says of it; passed: what the rows say. */
typedef struct {
    const char *rows;
    size_t length, key;
    json_t *fact;
    bool passed;
} MergedPoint;

typedef struct {
    ShardFile *files;
    size_t file_count;
    MergedPoint *points; /* [point_count] */
    size_t point_count, shards;
    const char *header;
    size_t header_length;
    bool mixed;          /* machines differ */
    bool judged;         /* rows of verify say a tolerance */
    char *merged;        /* rows of verify, or NULL: the points' are written */
    FILE *file;          /* where they are put together */
    PositionMeans means; /* of their positions since the last layer */
    Status worst;        /* of all so far */
    RunOptions options;  /* output, format, on_stdout: what is written where */
} Merge;

/* ---- Shards ---------------------------------------------------------------------------------- */

/* Reads the shards that merge->files names, and checks that they are all of one run's.
 * 0, 2 or 99 after a message. */
int merge_gather(Merge *merge) __attribute__((warn_unused_result));

/* Says where their machines differ, and notes it. */
void merge_compare_machines(Merge *merge);

/* Were the shards swept with --propagation?  Its columns are the last. */
bool merge_has_propagation(const Merge *merge);

/* The shards' rows do not fit together: names the file; returns 2. */
int merge_refuse_rows(const ShardFile *file);

/* The same about a point's verdict, from 0. */
int merge_refuse_verdict(const ShardFile *file, size_t point);

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Are they rows of verify? */
bool merge_is_verify(const Merge *merge);

/* Rows of verify: the worst over the shards, row by row.  0, 2 or 99 after a message. */
int merge_verify(Merge *merge) __attribute__((warn_unused_result));

#endif
