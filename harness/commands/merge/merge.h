/*
 * The insides of `headproof merge` (private to it): the files of shards as one run's.
 *
 *   merge.c         the command: its words, the file and its sidecar, the verdict
 *   shards.c        which shards there are, and whether they fit together
 *   sweep_rows.c    rows of a sweep, each from one shard
 *   verify_rows.c   rows of verify, each from all of them
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MERGE_MERGE_H
#define HEADPROOF_HARNESS_COMMANDS_MERGE_MERGE_H

#include "../../table/sidecar.h"

/* text [size]: the file, with a NUL behind. */
typedef struct {
    const char *path;
    char *text;
    size_t size;
    json_t *sidecar;
    size_t index;
} ShardFile;

/* The rows of a point of the grid, in a shard's text; fact: what the shard's sidecar says of it;
 * passed: what the rows say. */
typedef struct {
    const char *rows;
    size_t length;
    json_t *fact;
    bool passed;
} MergedPoint;

typedef struct {
    ShardFile *files;
    size_t file_count;
    MergedPoint *points;
    size_t point_count, shards;
    const char *header;
    size_t header_length;
    bool mixed;         /* machines differ */
    bool judged;        /* rows of verify say a tolerance */
    char *merged;       /* rows of verify, or NULL: the points' are written */
    RunOptions options; /* output, format, on_stdout: what is written where */
} Merge;

#endif
