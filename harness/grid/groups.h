/*
 * Points that share a base trajectory: a group.  Groups are made of a whole grid, whichever of its
 * points are evaluated, so that a base does not depend on that.
 */
#ifndef HEADPROOF_HARNESS_GRID_GROUPS_H
#define HEADPROOF_HARNESS_GRID_GROUPS_H

#include "grid.h"

/* points [count]: the members, in grid order. */
typedef struct {
    const Point **points;
    size_t count;
} Group;

/* groups [count] in the order of their first points; of [grid's count]: each point's group. */
typedef struct {
    Group *groups;
    size_t count, *of;
    const Point **members; /* owns what the groups' points point into */
} Groups;

/* false: memory is short (clear is fine). */
bool groups_make(Groups *groups, const Grid *grid) __attribute__((warn_unused_result));
void groups_clear(Groups *groups);

/* Do two points share a base? */
bool points_share_base(const Point *a, const Point *b);

#endif
