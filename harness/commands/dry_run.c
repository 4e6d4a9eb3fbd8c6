/*
 * The points of a run that is not made, and its time and memory by the model of the work
 * (evaluate/predict.h).
 */
#include "commands.h"

#include "../../memory/need.h"
#include "../base/memory.h"
#include "../base/message.h"
#include "../base/progress.h"
#include "../evaluate/predict.h"
#include "../grid/point_groups.h"

#include <math.h>
#include <stdlib.h>

/* Of one thread: seconds of all points, and seconds and bytes of the largest. */
typedef struct {
    double seconds, most_seconds, most_bytes;
    const Point *largest;
} Estimate;

/* Seconds of a point beside its evaluation, and of each of its rows: digits are proven and printed,
 * and the file is synced. */
#define POINT_SECONDS 5e-4
#define ROW_SECONDS 1.5e-4

/* A base that a group shares is made once, except by a command that works on each point alone. */
static void estimate_points(Estimate *estimate, const CommandInfo *command, const Grid *grid,
                            const size_t *points, size_t count)
{
    PointGroups groups;
    bool *shared = need_zeros(grid->count + 1, sizeof *shared);
    point_groups_make(&groups, grid);
    for (size_t i = 0; i < count; i++) {
        const Point *point = &grid->points[points[i]];
        size_t group = groups.of[points[i]];
        PointCost cost = point_cost_parts(point);
        double rows = command->seconds != NULL ? 1 : (double)point->spec.depth;
        double own = cost.reference + cost.machine;
        if (command->seconds != NULL) {
            own = command->seconds(point);
            cost.base = 0;
        }
        own += POINT_SECONDS + rows * ROW_SECONDS;
        PointBytes bytes;
        const char *reason;
        (void)point_predict(&bytes, &reason, point);
        estimate->seconds += own + (shared[group] ? 0 : cost.base);
        estimate->largest = own + cost.base > estimate->most_seconds ? point : estimate->largest;
        estimate->most_seconds = fmax(estimate->most_seconds, own + cost.base);
        double all = bytes.base + bytes.kernel + bytes.run + bytes.layer;
        estimate->most_bytes = fmax(estimate->most_bytes, all);
        shared[group] = true;
    }
    free(shared);
    point_groups_clear(&groups);
}

static void say(const Estimate *estimate, size_t count, const RunOptions *run)
{
    char text[DURATION_TEXT], bytes[MEMORY_TEXT];
    int threads = run_threads(run);
    double at_once = fmin((double)threads, (double)count) * estimate->most_bytes;
    double seconds = fmax(estimate->seconds / threads, count == 1 ? estimate->most_seconds : 0);
    fprintf(stderr, "headproof: %zu point%s: %s with %d thread%s, up to %s", count,
            count == 1 ? "" : "s", duration_about(text, seconds), threads, threads == 1 ? "" : "s",
            memory_print(bytes, fmin(at_once, memory_room(run->memory))));
    if (count > 1) {
        fprintf(stderr, "; the largest: %s of one thread, %s: ",
                duration_about(text, estimate->most_seconds),
                memory_print(bytes, estimate->most_bytes));
        point_print_command(stderr, estimate->largest);
    }
    fputc('\n', stderr);
}

int dry_run(const CommandInfo *command, const Grid *grid, const RunOptions *run)
{
    int status = grid_predict(grid, run->memory, NULL);
    if (status != 0) {
        return status;
    }
    Estimate estimate = {0};
    size_t count = grid->count, *points = need_zeros(count + 1, sizeof *points);
    for (size_t i = 0; i < count; i++) {
        points[i] = i;
    }
    shard_points(points, &count, grid, run->shard, run->shards);
    bool says = !run->quiet && count > 0;
    if (says) {
        estimate_points(&estimate, command, grid, points, count);
    }
    for (size_t i = 0; i < count; i++) {
        point_print_command(stdout, &grid->points[points[i]]);
        putchar('\n');
    }
    if (says) {
        say(&estimate, count, run);
    }
    free(points);
    return 0;
}
