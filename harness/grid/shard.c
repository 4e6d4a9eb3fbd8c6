/*
 * The points of one shard of a grid.
 */
#include "shard.h"

#include "groups.h"

bool shard_points(size_t *points, size_t *count, const Grid *grid, size_t shard, size_t shards)
{
    Groups groups;
    *count = 0;
    if (!groups_make(&groups, grid)) {
        groups_clear(&groups);
        return false;
    }
    for (size_t i = 0; i < grid->count; i++) {
        size_t turn = groups.count >= shards ? groups.of[i] : i;
        if (turn % shards == shard - 1) {
            points[(*count)++] = i;
        }
    }
    groups_clear(&groups);
    return true;
}
