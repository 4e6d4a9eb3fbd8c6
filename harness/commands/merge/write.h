/*
 * The file that shards make together, and its sidecar.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MERGE_WRITE_H
#define HEADPROOF_HARNESS_COMMANDS_MERGE_WRITE_H

#include "merge.h"

/* The rows in the format asked for.  0, 2 or 99 after a message. */
int merge_write(const Merge *merge) __attribute__((warn_unused_result));

#endif
