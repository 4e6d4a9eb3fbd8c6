#include "schedule.h"

#include "axes.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum { GROUP_WAITING, GROUP_MAKING, GROUP_READY } GroupState;

/* members [count]: indices of points, ascending. */
typedef struct {
    size_t *members;
    size_t count, started, finished;
    GroupState state;
    Shared *shared;
} Group;

typedef struct {
    const Grid *grid;
    Group *groups;
    size_t group_count;
    size_t first;    /* groups before it have nothing left to start */
    size_t *members; /* owns what the groups' members point into */
    size_t live, live_limit;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopped;
    EvaluateStatus status;
    PointWork *work;
    PointDone *done;
    void *context;
} Schedule;

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Axes that leave a point's base alone; every other one decides it. */
static bool outside_base(Axis axis)
{
    switch (axis) {
    case AXIS_OMEGA:
    case AXIS_SHRINK:
    case AXIS_ARITHMETIC:
    case AXIS_KERNEL:
    case AXIS_REFERENCE:
    case AXIS_PRECISION:
    case AXIS_MAX_BITS:
    case AXIS_TOLERANCE:
    case AXIS_JUDGE:
    case AXIS_NORM: return true;
    default: return false;
    }
}

/* A total order in which points of one group are neighbours. */
static int compare_bases(const Point *a, const Point *b)
{
    int order = compare_sizes((uintptr_t)a->spec.given, (uintptr_t)b->spec.given);
    for (Axis axis = 0; axis < AXIS_COUNT && order == 0; axis++) {
        if (!outside_base(axis)) {
            AxisValue left = point_get(a, axis), right = point_get(b, axis);
            order = value_compare(&left, &right);
        }
    }
    return order;
}

bool points_share_base(const Point *a, const Point *b)
{
    return compare_bases(a, b) == 0;
}

typedef struct {
    const Point *point;
    size_t index;
} Entry;

static int compare_entries(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    int order = compare_bases(x->point, y->point);
    return order != 0 ? order : compare_sizes(x->index, y->index);
}

static int compare_groups(const void *a, const void *b)
{
    const Group *x = a, *y = b;
    return compare_sizes(x->members[0], y->members[0]);
}

/* Groups in the order of their first points. */
static bool make_groups(Schedule *schedule)
{
    const Grid *grid = schedule->grid;
    Entry *entries = calloc(grid->count + 1, sizeof *entries);
    schedule->members = calloc(grid->count + 1, sizeof *schedule->members);
    schedule->groups = calloc(grid->count + 1, sizeof *schedule->groups);
    if (entries == NULL || schedule->members == NULL || schedule->groups == NULL) {
        free(entries);
        return false;
    }
    for (size_t i = 0; i < grid->count; i++) {
        entries[i] = (Entry){&grid->points[i], i};
    }
    qsort(entries, grid->count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < grid->count; i++) {
        schedule->members[i] = entries[i].index;
        if (i == 0 || compare_bases(entries[i - 1].point, entries[i].point) != 0) {
            schedule->groups[schedule->group_count++].members = &schedule->members[i];
        }
        schedule->groups[schedule->group_count - 1].count++;
    }
    qsort(schedule->groups, schedule->group_count, sizeof *schedule->groups, compare_groups);
    free(entries);
    return true;
}

/* A point whose base is ready, else a group whose base is to be made, else NULL; *idle: there is
 * nothing left to start.  Groups become ready in order, so none is ready behind a waiting one. */
static Group *next_work(Schedule *schedule, bool *idle)
{
    while (schedule->first < schedule->group_count &&
           schedule->groups[schedule->first].started == schedule->groups[schedule->first].count) {
        schedule->first++;
    }
    *idle = schedule->first == schedule->group_count;
    for (size_t g = schedule->first; g < schedule->group_count; g++) {
        Group *group = &schedule->groups[g];
        if (group->state == GROUP_READY && group->started < group->count) {
            return group;
        }
        if (group->state == GROUP_WAITING) {
            return schedule->live < schedule->live_limit ? group : NULL;
        }
    }
    return NULL;
}

static void fail(Schedule *schedule, EvaluateStatus status)
{
    if (status != EVALUATE_OK) {
        schedule->status = status;
        schedule->stopped = true;
    }
}

/* With the lock held on entry and on return. */
static void make_base(Schedule *schedule, Group *group)
{
    const Point **points = calloc(group->count, sizeof *points);
    EvaluateStatus status = EVALUATE_NO_MEMORY;
    group->state = GROUP_MAKING;
    schedule->live++;
    pthread_mutex_unlock(&schedule->lock);
    if (points != NULL) {
        for (size_t i = 0; i < group->count; i++) {
            points[i] = &schedule->grid->points[group->members[i]];
        }
        status = shared_make(&group->shared, points, group->count);
    }
    free(points);
    pthread_mutex_lock(&schedule->lock);
    group->state = GROUP_READY;
    fail(schedule, status);
}

/* With the lock held on entry and on return. */
static void evaluate_next(Schedule *schedule, Group *group)
{
    size_t index = group->members[group->started++];
    pthread_mutex_unlock(&schedule->lock);
    EvaluateStatus status = schedule->work(schedule->context, group->shared, index);
    pthread_mutex_lock(&schedule->lock);
    fail(schedule, status);
    if (++group->finished == group->count) {
        shared_clear(group->shared);
        group->shared = NULL;
        schedule->live--;
    }
    if (!schedule->stopped && !schedule->done(schedule->context, index)) {
        schedule->stopped = true;
    }
}

static void worker(Schedule *schedule)
{
    bool idle = false;
    ref_thread_setup();
    pthread_mutex_lock(&schedule->lock);
    while (!schedule->stopped && !idle) {
        Group *group = next_work(schedule, &idle);
        if (group == NULL && !idle) {
            pthread_cond_wait(&schedule->changed, &schedule->lock);
        } else if (group != NULL && group->state == GROUP_READY) {
            evaluate_next(schedule, group);
        } else if (group != NULL) {
            make_base(schedule, group);
        }
        pthread_cond_broadcast(&schedule->changed);
    }
    pthread_mutex_unlock(&schedule->lock);
    ref_thread_clear();
}

EvaluateStatus schedule_run(const Grid *grid, int threads, PointWork *work, PointDone *done,
                            void *context)
{
    Schedule schedule = {.grid = grid, .work = work, .done = done, .context = context};
    schedule.live_limit = 2 * (size_t)threads;
    if (!make_groups(&schedule)) {
        free(schedule.members);
        free(schedule.groups);
        return EVALUATE_NO_MEMORY;
    }
    pthread_mutex_init(&schedule.lock, NULL);
    pthread_cond_init(&schedule.changed, NULL);
#pragma omp parallel num_threads(threads)
    worker(&schedule);
    pthread_cond_destroy(&schedule.changed);
    pthread_mutex_destroy(&schedule.lock);
    for (size_t g = 0; g < schedule.group_count; g++) {
        shared_clear(schedule.groups[g].shared);
    }
    free(schedule.members);
    free(schedule.groups);
    return schedule.status;
}
