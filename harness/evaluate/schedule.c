/*
 * Points over threads: in grid order as far as memory and bases allow.
 */
#include "schedule.h"

#include "../../memory/need.h"
#include "predict.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

/* A point this many or more behind the first that has not started does not start: there is an end
 * to what is looked through for one that fits. */
enum { AHEAD_MOST = 256 };

typedef enum { BASE_NONE, BASE_MAKING, BASE_READY } BaseState;

/* A group's base. */
typedef struct {
    size_t *positions; /* [count], of its points that are evaluated; they start in this order */
    size_t count, started, finished;
    BaseState state;
    Shared *shared;
    double bytes; /* predicted */
} Base;

/* A point that is evaluated, and its rows until they are committed. */
typedef struct {
    size_t position;
    PointRows rows;
} Ready;

typedef struct {
    const Work *work;
    PointGroups groups;
    Base *bases;         /* one a group */
    size_t *positions;   /* owns what the bases' positions point into */
    double *point_bytes; /* [count], predicted: what each point takes besides its base */
    double bytes;        /* predicted: of all bases and points that are there */
    bool *started;       /* [count] */
    size_t next;         /* every point before it has started */
    size_t running;      /* points and bases that are being evaluated */
    Ready *ready;        /* [ready_count], in the order in which they were evaluated */
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
        base->bytes = all > base->bytes ? all : base->bytes;
        schedule->point_bytes[p] = bytes.kernel + bytes.run + bytes.layer;
    }
}

static void drop_base(Schedule *schedule, Base *base)
{
    shared_clear(base->shared);
    base->shared = NULL;
    base->state = BASE_NONE;
    schedule->bytes -= base->bytes;
}

/* Of the idle bases that are needed after the position alone, the one that is needed last; NULL:
 * none.  *bytes: of all of them. */
static Base *last_idle(const Schedule *schedule, size_t position, double *bytes)
{
    Base *last = NULL;
    *bytes = 0;
    for (size_t g = 0; g < schedule->groups.count; g++) {
        Base *base = &schedule->bases[g];
        bool idle = base->state == BASE_READY && base->started == base->finished;
        size_t next = idle ? base->positions[base->started] : position;
        if (next > position && base != base_at(schedule, position)) {
            *bytes += base->bytes;
            last = last == NULL || next > last->positions[last->started] ? base : last;
        }
    }
    return last;
}

/* Makes room for a position's work, by dropping bases where that helps.  What nothing runs beside
 * may always start: it was found to fit alone. */
static bool make_room(Schedule *schedule, size_t position, double bytes)
{
    double over = schedule->bytes + bytes - schedule->work->memory, idle;
    if (over <= 0) {
        return true;
    }
    Base *last = last_idle(schedule, position, &idle);
    if (idle < over && schedule->running > 0) {
        return false;
    }
    while (last != NULL && schedule->bytes + bytes > schedule->work->memory) {
        drop_base(schedule, last);
        last = last_idle(schedule, position, &idle);
    }
    return true;
}

/* The position to begin with; count: none now.  *idle: nothing is left to start. */
static size_t next_position(Schedule *schedule, bool *idle)
{
    size_t count = schedule->work->count;
    while (schedule->next < count && schedule->started[schedule->next]) {
        schedule->next++;
    }
    *idle = schedule->next == count;
    for (size_t p = schedule->next; p < count && p - schedule->next < AHEAD_MOST; p++) {
        const Base *base = base_at(schedule, p);
        double bytes = schedule->point_bytes[p] + (base->state == BASE_READY ? 0 : base->bytes);
        bool waits = !schedule->started[p] && base->state != BASE_MAKING;
        if (waits && make_room(schedule, p, bytes)) {
            return p;
        }
    }
    return count;
}

/* Called and left with the lock held, as the next two. */
static void make_base(Schedule *schedule, Base *base)
{
    const PointGroup *group = &schedule->groups.groups[base - schedule->bases];
    base->state = BASE_MAKING;
    schedule->bytes += base->bytes;
    schedule->running++;
    pthread_mutex_unlock(&schedule->lock);
    base->shared = shared_make(group->points, group->count,
                               shared_tape_room(schedule->work->memory, base->count));
    pthread_mutex_lock(&schedule->lock);
    schedule->running--;
    base->state = BASE_READY;
    schedule->failed = schedule->failed || base->shared == NULL;
    schedule->stopped = schedule->stopped || schedule->failed;
}

/* Whoever finds points ready to be committed commits them; others go on evaluating. */
static void commit_ready(Schedule *schedule)
{
    if (schedule->committing) {
        return;
    }
    schedule->committing = true;
    while (!schedule->stopped && schedule->committed < schedule->ready_count) {
        Ready *ready = &schedule->ready[schedule->committed++];
        bool more = schedule->committed < schedule->ready_count;
        pthread_mutex_unlock(&schedule->lock);
        bool ok = schedule->commit(schedule->context, schedule->work->points[ready->position],
                                   &ready->rows, more);
        pthread_mutex_lock(&schedule->lock);
        ready->rows = (PointRows){0}; /* they are the caller's */
        schedule->stopped = schedule->stopped || !ok;
        pthread_cond_broadcast(&schedule->changed);
    }
    schedule->committing = false;
}

static void evaluate(Schedule *schedule, size_t position)
{
    Base *base = base_at(schedule, position);
    PointRows rows;
    schedule->started[position] = true;
    base->started++;
    schedule->bytes += schedule->point_bytes[position];
    schedule->running++;
    pthread_mutex_unlock(&schedule->lock);
    bool ok = rows_evaluate(&rows, base->shared, point_at(schedule, position));
    pthread_mutex_lock(&schedule->lock);
    schedule->running--;
    schedule->bytes -= schedule->point_bytes[position];
    schedule->failed = schedule->failed || !ok;
    schedule->stopped = schedule->stopped || !ok;
    if (++base->finished == base->count) {
        drop_base(schedule, base);
    }
    if (ok) {
        schedule->ready[schedule->ready_count++] = (Ready){position, rows};
        commit_ready(schedule);
    }
}

/* inner: threads that one evaluation may use. */
static void worker(Schedule *schedule, int inner)
{
    bool idle = false;
    ref_thread_setup();
    omp_set_num_threads(inner);
    pthread_mutex_lock(&schedule->lock);
    while (!schedule->stopped && !idle) {
        size_t position = next_position(schedule, &idle);
        if (position == schedule->work->count) {
            if (!idle) {
                pthread_cond_wait(&schedule->changed, &schedule->lock);
            }
            continue;
        }
        if (base_at(schedule, position)->state == BASE_READY) {
            evaluate(schedule, position);
        } else {
            make_base(schedule, base_at(schedule, position));
        }
        pthread_cond_broadcast(&schedule->changed);
    }
    pthread_mutex_unlock(&schedule->lock);
    ref_thread_clear();
}

static void clear(Schedule *schedule)
{
    for (size_t g = 0; g < schedule->groups.count; g++) {
        shared_clear(schedule->bases[g].shared);
    }
    for (size_t i = 0; i < schedule->ready_count; i++) {
        rows_clear(&schedule->ready[i].rows);
    }
    free(schedule->ready);
    point_groups_clear(&schedule->groups);
    free(schedule->bases);
    free(schedule->positions);
    free(schedule->point_bytes);
    free(schedule->started);
    free(schedule);
}

/* Threads over points, and within each where there are few. */
static void run_workers(Schedule *schedule, int threads)
{
    size_t count = schedule->work->count;
    int points = count < (size_t)threads ? (int)count : threads, outer = points > 1 ? points : 1;
    int levels = omp_get_max_active_levels(), before = omp_get_max_threads();
    omp_set_max_active_levels(2);
    if (outer == 1) { /* without a team, so that those within keep their threads */
        worker(schedule, threads);
        omp_set_num_threads(before);
    } else {
#pragma omp parallel num_threads(outer)
        worker(schedule, threads / outer);
    }
    omp_set_max_active_levels(levels);
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
    schedule->started = need_zeros(work->count + 1, sizeof *schedule->started);
    schedule->ready = need_zeros(work->count + 1, sizeof *schedule->ready);
    fill_bases(schedule);
    predict(schedule);
    pthread_mutex_init(&schedule->lock, NULL);
    pthread_cond_init(&schedule->changed, NULL);
    run_workers(schedule, threads);
    pthread_cond_destroy(&schedule->changed);
    pthread_mutex_destroy(&schedule->lock);
    bool ok = !schedule->failed;
    clear(schedule);
    return ok;
}
