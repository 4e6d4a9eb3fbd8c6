/*
 * Rows of a sweep, each from one shard.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MERGE_SWEEP_ROWS_H
#define HEADPROOF_HARNESS_COMMANDS_MERGE_SWEEP_ROWS_H

#include "merge.h"

/* Every point's rows from the shard that has it; points [point_count + 1], cleared,
 * are the merge's from here on.  0, 2 or 99 after a message. */
int merge_points(Merge *merge, MergedPoint *points) __attribute__((warn_unused_result));

#endif
