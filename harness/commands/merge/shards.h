/*
 * The shards of a run: which there are, and whether they fit together.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MERGE_SHARDS_H
#define HEADPROOF_HARNESS_COMMANDS_MERGE_SHARDS_H

#include "merge.h"

/* Reads the shards that merge->files names, and checks that they are all of one run's.
 * 0, 2 or 99 after a message. */
int merge_gather(Merge *merge) __attribute__((warn_unused_result));

/* Says where their machines differ, and notes it. */
void merge_compare_machines(Merge *merge);

/* The shards' rows do not fit together: names the file; returns 2. */
int merge_refuse_rows(const ShardFile *file);

/* The same about a point's verdict, from 0. */
int merge_refuse_verdict(const ShardFile *file, size_t point);

/* A column of a line, from 0; no cell holds a comma.  NULL: there are not that many. */
const char *merge_column(const char *line, size_t wanted);

#endif
