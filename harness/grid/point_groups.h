/*
 * Groups of points that share a base trajectory, and the shards of a grid.
 *
 * Both are made of a whole grid, whichever of its points a job evaluates, so that a base does not
 * depend on how a grid is divided.
 */
#ifndef HEADPROOF_HARNESS_GRID_POINT_GROUPS_H
#define HEADPROOF_HARNESS_GRID_POINT_GROUPS_H

#include "grid.h"

/* Points that share a base. */
typedef struct {
    const Point **points; /* [count], in grid order */
    size_t count;
} PointGroup;

typedef struct {
    PointGroup *groups;    /* [count], in the order of their first points */
    size_t count;          /* of groups */
    size_t *of;            /* [points of the grid] the group that each point is in */
    const Point **members; /* [points of the grid] what the groups' points are parts of */
} PointGroups;

/* The groups of a grid, which must outlive them. */
void point_groups_make(PointGroups *groups, const Grid *grid);
void point_groups_clear(PointGroups *groups);

/* Of points [*count] of a grid, ascending indices, those of one shard: the part that one job of an
 * array, or one rank, evaluates.  shard: from 1 to shards.  Their groups are dealt out in turn;
 * where there are fewer groups than shards, points are. */
void shard_points(size_t *points, size_t *count, const Grid *grid, size_t shard, size_t shards);

#endif
