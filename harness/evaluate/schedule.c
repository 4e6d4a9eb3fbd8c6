/*
 * Points over threads: in grid order as far as memory and bases allow.
 */
#include "schedule.h"

#include "../../memory/need.h"
#include "predict.h"
#include "threads.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* A group's base. */
typedef struct {
    size_t *positions; /* [count], of its points that are evaluated; they start in this order */
    size_t count, started, running, finished;
    Shared *shared;        /* NULL: it is not made yet, or all its points are finished */
    double bytes, largest; /* predicted: of it, and of the largest of its points besides */
} Base;

typedef struct {
    const Work *work;
    PointGroups groups;
    Base *bases;         /* one a group */
    size_t *positions;   /* owns what the bases' positions point into */
    double *point_bytes; /* [count], predicted: what each point takes besides its base */
    double bytes;        /* predicted: of all bases and points that are there */
    size_t next;         /* every point before it has started */
    size_t open;         /* bases that are there or being made */
    size_t first;        /* all of the bases before it are finished */
    PointRows *rows;     /* [count] until they are committed */
    size_t *ready;       /* [ready_count] positions, in the order in which they were evaluated */
    size_t ready_count, committed;
    pthread_mutex_t lock; /* of all this */
    pthread_cond_t changed;
    bool stopped, committing;
    bool failed; /* a layer cannot be had */
    CommitRows *commit;
    void *context;
} Schedule;

static const Point *point_at(const Schedule *schedule, size_t position)
{
    return &schedule->work->grid->points[schedule->work->points[position]];
}

static Base *base_at(const Schedule *schedule, size_t position)
{
    return &schedule->bases[schedule->groups.of[schedule->work->points[position]]];
}

/* Deals the positions to their groups. */
static void fill_bases(Schedule *schedule)
{
    size_t used = 0;
    for (size_t p = 0; p < schedule->work->count; p++) {
        base_at(schedule, p)->count++;
    }
    for (size_t g = 0; g < schedule->groups.count; g++) {
        schedule->bases[g].positions = &schedule->positions[used];
        used += schedule->bases[g].count;
        schedule->bases[g].count = 0;
    }
    for (size_t p = 0; p < schedule->work->count; p++) {
        Base *base = base_at(schedule, p);
        base->positions[base->count++] = p;
    }
}

/* Predicts bytes: of each base the most that a member asks for, and what each point takes
 * besides. */
static void predict(Schedule *schedule)
{
    for (size_t p = 0; p < schedule->work->count; p++) {
        PointBytes bytes;
        const char *reason;
        (void)point_predict(&bytes, &reason, point_at(schedule, p)); /* as grid_predict did */
        Base *base = base_at(schedule, p);
        double room = shared_tape_room(schedule->work->memory, base->count);
        double all = bytes.tape <= room ? bytes.base + bytes.tape : bytes.base;
        schedule->point_bytes[p] = bytes.kernel + bytes.run + bytes.layer;
        base->bytes = fmax(base->bytes, all);
        base->largest = fmax(base->largest, schedule->point_bytes[p]);
    }
}

/* What a point takes more.  There is room for the largest beside every base, so that one of its
 * points may always start. */
static double own_bytes(const Schedule *schedule, size_t position)
{
    const Base *base = base_at(schedule, position);
    return base->started == 0  ? base->bytes + base->largest
           : base->running > 0 ? schedule->point_bytes[position]
                               : 0;
}

/* What nothing is beside may start, too: it was found to fit alone. */
static bool may_start(const Schedule *schedule, size_t position)
{
    const Base *base = base_at(schedule, position);
    double more = own_bytes(schedule, position);
    bool making = base->started > 0 && base->shared == NULL;
    bool fits = more == 0 || schedule->bytes + more <= schedule->work->memory;
    return !making && (fits || schedule->open == 0);
}

static bool has_started(const Schedule *schedule, size_t position)
{
    const Base *base = base_at(schedule, position);
    return base->started == base->count || base->positions[base->started] > position;
}

/* The position to begin with: the next; where that has to wait, one of a base that is there, else
 * of the next base.  count: none now.  *idle: nothing is left to start. */
static size_t next_position(Schedule *schedule, bool *idle)
{
    size_t count = schedule->work->count, groups = schedule->groups.count;
    const Base *bases = schedule->bases;
    while (schedule->next < count && has_started(schedule, schedule->next)) {
        schedule->next++;
    }
    while (schedule->first < groups &&
           bases[schedule->first].finished == bases[schedule->first].count) {
        schedule->first++;
    }
    *idle = schedule->next == count;
    if (*idle || may_start(schedule, schedule->next)) {
        return schedule->next;
    }
    for (size_t g = schedule->first; g < groups; g++) {
        size_t started = bases[g].started;
        if (started < bases[g].count && may_start(schedule, bases[g].positions[started])) {
            return bases[g].positions[started];
        }
        if (started == 0 && bases[g].count > 0) {
            break; /* nor is there room for those behind it */
        }
    }
    return count;
}

/* Called and left with the lock held, as the next two. */
static void make_base(Schedule *schedule, Base *base)
{
    const PointGroup *group = &schedule->groups.groups[base - schedule->bases];
    schedule->open++;
    pthread_mutex_unlock(&schedule->lock);
    Shared *made = shared_make(group->points, group->count,
                               shared_tape_room(schedule->work->memory, base->count));
    pthread_mutex_lock(&schedule->lock);
    base->shared = made;
    pthread_cond_broadcast(&schedule->changed);
}

/* Whoever finds points ready to be committed commits them; others go on evaluating. */
static void commit_ready(Schedule *schedule)
{
    if (schedule->committing) {
        return;
    }
    schedule->committing = true;
    while (!schedule->stopped && schedule->committed < schedule->ready_count) {
        size_t position = schedule->ready[schedule->committed++];
        PointRows *rows = &schedule->rows[position];
        bool more = schedule->committed < schedule->ready_count;
        pthread_mutex_unlock(&schedule->lock);
        bool ok = schedule->commit(schedule->context, schedule->work->points[position], rows, more);
        pthread_mutex_lock(&schedule->lock);
        *rows = (PointRows){0}; /* they are the caller's */
        schedule->stopped = schedule->stopped || !ok;
        pthread_cond_broadcast(&schedule->changed);
    }
    schedule->committing = false;
}

static void evaluate(Schedule *schedule, size_t position)
{
    Base *base = base_at(schedule, position);
    double bytes = own_bytes(schedule, position);
    PointRows *rows = &schedule->rows[position];
    schedule->bytes += bytes;
    base->running++;
    if (base->started++ == 0) {
        make_base(schedule, base);
        bytes = 0; /* they stay as long as the base */
    }
    pthread_mutex_unlock(&schedule->lock);
    bool ok =
        base->shared != NULL && rows_evaluate(rows, base->shared, point_at(schedule, position));
    pthread_mutex_lock(&schedule->lock);
    schedule->bytes -= bytes;
    base->running--;
    schedule->failed = schedule->failed || !ok;
    schedule->stopped = schedule->stopped || !ok;
    if (++base->finished == base->count) {
        shared_clear(base->shared);
        base->shared = NULL;
        schedule->bytes -= base->bytes + base->largest;
        schedule->open--;
    }
    if (ok) {
        schedule->ready[schedule->ready_count++] = position;
        commit_ready(schedule);
    }
}

static bool work_on(void *context, size_t worker)
{
    Schedule *schedule = context;
    bool idle = false;
    (void)worker;
    pthread_mutex_lock(&schedule->lock);
    while (!schedule->stopped && !idle) {
        size_t position = next_position(schedule, &idle);
        if (position < schedule->work->count) {
            evaluate(schedule, position);
            pthread_cond_broadcast(&schedule->changed);
        } else if (!idle) {
            pthread_cond_wait(&schedule->changed, &schedule->lock);
        }
    }
    pthread_mutex_unlock(&schedule->lock);
    return true;
}

static void clear(Schedule *schedule)
{
    for (size_t g = 0; g < schedule->groups.count; g++) {
        shared_clear(schedule->bases[g].shared);
    }
    for (size_t i = 0; i < schedule->work->count; i++) {
        rows_clear(&schedule->rows[i]);
    }
    free(schedule->rows);
    free(schedule->ready);
    point_groups_clear(&schedule->groups);
    free(schedule->bases);
    free(schedule->positions);
    free(schedule->point_bytes);
    free(schedule);
}

bool schedule_run(const Work *work, int threads, CommitRows *commit, void *context)
{
    Schedule *schedule = need_zeros(1, sizeof *schedule);
    schedule->work = work;
    schedule->commit = commit;
    schedule->context = context;
    point_groups_make(&schedule->groups, work->grid);
    schedule->bases = need_zeros(schedule->groups.count + 1, sizeof *schedule->bases);
    schedule->positions = need_zeros(work->count + 1, sizeof *schedule->positions);
    schedule->point_bytes = need_zeros(work->count + 1, sizeof *schedule->point_bytes);
    schedule->rows = need_zeros(work->count + 1, sizeof *schedule->rows);
    schedule->ready = need_zeros(work->count + 1, sizeof *schedule->ready);
    fill_bases(schedule);
    predict(schedule);
    pthread_mutex_init(&schedule->lock, NULL);
    pthread_cond_init(&schedule->changed, NULL);
    int workers = threads_over(work->count, threads);
    (void)threads_each((size_t)workers, workers, threads / workers, work_on, schedule);
    pthread_cond_destroy(&schedule->changed);
    pthread_mutex_destroy(&schedule->lock);
    bool ok = !schedule->failed;
    clear(schedule);
    return ok;
}
