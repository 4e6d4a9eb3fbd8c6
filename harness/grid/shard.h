/*
 * A part of a grid, for a job of an array.
 */
#ifndef HEADPROOF_HARNESS_GRID_SHARD_H
#define HEADPROOF_HARNESS_GRID_SHARD_H

#include "grid.h"

/* points [grid->count], of which *count are filled, ascending: those of shard `shard` of `shards`,
 * from 1.  Groups that share a base (groups.h) are dealt out in turn; where there are fewer of
 * them than shards, points are.  false: memory is short. */
bool shard_points(size_t *points, size_t *count, const Grid *grid, size_t shard, size_t shards)
    __attribute__((warn_unused_result));

#endif
