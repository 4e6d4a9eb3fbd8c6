/*
 * Points that share a base trajectory, found in a grid, and the parts of a grid that jobs take.
 */
#include "point_groups.h"

#include "../../memory/need.h"
#include "../point/point.h"

#include <stdlib.h>

/* Of one grid, whose points' addresses are in its order. */
static int compare_points(const void *a, const void *b)
{
    const Point *x = *(const Point *const *)a, *y = *(const Point *const *)b;
    int order = point_compare_bases(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

static int compare_groups(const void *a, const void *b)
{
    const PointGroup *x = a, *y = b;
    return (x->points[0] > y->points[0]) - (x->points[0] < y->points[0]);
}

void point_groups_make(PointGroups *groups, const Grid *grid)
{
    size_t room = grid->count + 1;
    *groups = (PointGroups){.members = need_zeros(room, sizeof *groups->members),
                            .groups = need_zeros(room, sizeof *groups->groups),
                            .of = need_zeros(room, sizeof *groups->of)};
    for (size_t i = 0; i < grid->count; i++) {
        groups->members[i] = &grid->points[i];
    }
    qsort(groups->members, grid->count, sizeof *groups->members, compare_points);
    for (size_t i = 0; i < grid->count; i++) {
        const Point **member = &groups->members[i];
        if (i == 0 || point_compare_bases(member[-1], member[0]) != 0) {
            groups->groups[groups->count++].points = member;
        }
        groups->groups[groups->count - 1].count++;
    }
    /* By their first points, whose addresses are in grid order. */
    qsort(groups->groups, groups->count, sizeof *groups->groups, compare_groups);
    for (size_t g = 0; g < groups->count; g++) {
        const PointGroup *group = &groups->groups[g];
        for (size_t i = 0; i < group->count; i++) {
            groups->of[group->points[i] - grid->points] = g;
        }
    }
}

void point_groups_clear(PointGroups *groups)
{
    free(groups->groups);
    free(groups->of);
    free(groups->members);
    *groups = (PointGroups){0};
}

void shard_points(size_t *points, size_t *count, const Grid *grid, size_t shard, size_t shards)
{
    PointGroups groups;
    size_t all = *count, turns = 0;
    if (shards <= 1) {
        return;
    }
    point_groups_make(&groups, grid);
    size_t *turn = need_zeros(groups.count + 1, sizeof *turn); /* of a group, from 1 */
    for (size_t i = 0; i < all; i++) {
        size_t group = groups.of[points[i]];
        turn[group] = turn[group] == 0 ? ++turns : turn[group];
    }
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        size_t place = turns >= shards ? turn[groups.of[points[i]]] - 1 : i;
        if (place % shards == shard - 1) {
            points[(*count)++] = points[i];
        }
    }
    free(turn);
    point_groups_clear(&groups);
}
