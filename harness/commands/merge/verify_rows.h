/*
 * Rows of verify, each from all shards.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MERGE_VERIFY_ROWS_H
#define HEADPROOF_HARNESS_COMMANDS_MERGE_VERIFY_ROWS_H

#include "merge.h"

/* Are they rows of verify? */
bool merge_is_verify(const Merge *merge);

/* The worst over the shards, row by row.  0, 2 or 99 after a message. */
int merge_verify(Merge *merge, MergedPoint *points) __attribute__((warn_unused_result));

#endif
