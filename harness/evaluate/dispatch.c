/*
 * Points handed out over the ranks of an MPI job, and their rows gathered in grid order.
 */
#include "dispatch.h"

#include "../../memory/need.h"
#include "../base/info.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/team.h"
#include "window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define NONE ((size_t)-1)

/* A message of rank 0 to another is the index of a point of the grid, or NONE: go home.  The
 * answer, before the rows' text: */
typedef struct {
    EvaluateStatus status;
    size_t length;
    double seconds;
} Answer;

typedef struct {
    size_t position; /* of the point that it evaluates, or NONE */
    size_t group;    /* whose base it has, or NONE */
} Rank;

struct Dispatch {
    int size;
    Rank *ranks; /* [size]; rank 0's is unused */
    size_t busy;
};

/* ---- Rank 0 ------------------------------------------------------------------------------ */

typedef struct {
    Dispatch *dispatch;
    const Work *work;
    PointGroups groups;
    Window window;
    bool *started;
    size_t next; /* every position before has started */
} Deal;

static bool is_held(const Dispatch *dispatch, size_t group)
{
    bool held = false;
    for (int r = 1; r < dispatch->size; r++) {
        held = held || dispatch->ranks[r].group == group;
    }
    return held;
}

/* The point that a rank starts next: the first of its own group; else of a group that no rank is
 * at; else any.  The work's count: none may start now. */
static size_t next_for(Deal *deal, const Rank *rank)
{
    const Work *work = deal->work;
    size_t any = work->count, fresh = work->count;
    while (deal->next < work->count && deal->started[deal->next]) {
        deal->next++;
    }
    for (size_t p = deal->next; p < work->count && window_admits(&deal->window, p); p++) {
        size_t group = deal->groups.of[work->points[p]];
        if (deal->started[p]) {
            continue;
        }
        if (group == rank->group) {
            return p;
        }
        any = any == work->count ? p : any;
        fresh = fresh == work->count && !is_held(deal->dispatch, group) ? p : fresh;
    }
    return fresh < work->count ? fresh : any;
}

static void hand_out(Deal *deal)
{
    Dispatch *dispatch = deal->dispatch;
    for (int r = 1; r < dispatch->size; r++) {
        Rank *rank = &dispatch->ranks[r];
        size_t position = rank->position == NONE ? next_for(deal, rank) : deal->work->count;
        if (position < deal->work->count) {
            size_t index = deal->work->points[position];
            deal->started[position] = true;
            *rank = (Rank){.position = position, .group = deal->groups.of[index]};
            dispatch->busy++;
            team_send(r, &index, sizeof index);
        }
    }
}

/* Waits for the rows of one point. */
static EvaluateStatus take_answer(Deal *deal)
{
    Dispatch *dispatch = deal->dispatch;
    char *bytes;
    size_t count;
    Answer answer;
    int from = team_receive(&bytes, &count);
    Rank *rank = &dispatch->ranks[from];
    memcpy(&answer, bytes, sizeof answer);
    PointRows rows = {.length = answer.length, .seconds = answer.seconds};
    rows.text = rows_copy(bytes + sizeof answer, rows.length);
    free(bytes);
    const Point *point = &deal->work->grid->points[deal->work->points[rank->position]];
    if (answer.status != EVALUATE_OK ||
        rows_read(&rows.outcome, rows.text, rows.length, point) != rows.length) {
        free(rows.text);
        return EVALUATE_NO_LAYER;
    }
    window_put(&deal->window, rank->position, &rows);
    rank->position = NONE;
    dispatch->busy--;
    return EVALUATE_OK;
}

static bool commit_ready(Deal *deal, CommitRows *commit, void *context)
{
    const PointRows *rows;
    bool more, ok = true;
    while (ok && (rows = window_first(&deal->window, &more)) != NULL) {
        ok = commit(context, deal->work->points[deal->window.first], rows, more);
        window_pop(&deal->window);
    }
    return ok;
}

EvaluateStatus dispatch_run(Dispatch *dispatch, const Work *work, CommitRows *commit, void *context)
{
    Deal *deal = need_zeros(1, sizeof *deal);
    EvaluateStatus status = EVALUATE_OK;
    bool ok = true;
    deal->dispatch = dispatch;
    deal->work = work;
    deal->started = need_zeros(work->count + 1, sizeof *deal->started);
    point_groups_make(&deal->groups, work->grid);
    hand_out(deal);
    while (ok && status == EVALUATE_OK && dispatch->busy > 0) {
        status = take_answer(deal);
        hand_out(deal);
        ok = status == EVALUATE_OK && commit_ready(deal, commit, context);
        hand_out(deal); /* what the window admits now */
    }
    window_clear(&deal->window);
    point_groups_clear(&deal->groups);
    free(deal->started);
    free(deal);
    return status;
}

void dispatch_dismiss(Dispatch *dispatch, int code)
{
    if (dispatch == NULL) {
        return;
    }
    if (dispatch->busy > 0) {
        fflush(NULL);
        team_abort(code);
    }
    const size_t home = NONE;
    for (int r = 1; r < dispatch->size; r++) {
        team_send(r, &home, sizeof home);
    }
    free(dispatch->ranks);
    free(dispatch);
}

/* Compares what a rank says of itself with rank 0's, and adds it to the sidecar's list. */
static int compare_rank(json_t *ranks, int number, const json_t *said, const RunRecord *run)
{
    char text[DIFFERENCE_TEXT];
    json_t *entry = json_object();
    int status = json_object_set_new(entry, "rank", json_integer(number)) |
                 json_object_set(entry, "host", json_object_get(said, "host")) |
                 json_object_set(entry, "cpu", json_object_get(said, "cpu")) |
                 json_object_set(entry, "openblas_core", json_object_get(said, "openblas_core")) |
                 json_array_append(ranks, entry);
    json_decref(entry);
    if (status != 0) {
        return memory_fault();
    }
    if (sidecar_fits(text, said, run)) {
        return 0;
    }
    if (*text == '\0') {
        return facts_fault();
    }
    bool refused = !sidecar_same_sweep(said, run);
    fprintf(stderr, "headproof: %srank %d has %s%s\n", refused ? "" : "warning: ", number,
            shown(text).text, refused ? "" : ": the machine's columns may differ");
    return refused ? 2 : 0;
}

int dispatch_meet(Dispatch **dispatch, json_t **ranks, const RunRecord *run)
{
    int size = team_size(), status = 0;
    *dispatch = need_zeros(1, sizeof **dispatch);
    *ranks = json_array();
    (*dispatch)->size = size;
    (*dispatch)->ranks = need_zeros((size_t)size, sizeof *(*dispatch)->ranks);
    for (int heard = 1; heard < size; heard++) {
        char *text;
        size_t count;
        int from = team_receive(&text, &count);
        json_t *said = json_loadb(text, count, 0, NULL);
        int found = said == NULL ? memory_fault() : compare_rank(*ranks, from, said, run);
        status = found > status ? found : status;
        (*dispatch)->ranks[from] = (Rank){.position = NONE, .group = NONE};
        json_decref(said);
        free(text);
    }
    return status;
}

/* ---- The others -------------------------------------------------------------------------- */

static char *introduction(const RunRecord *run)
{
    struct utsname name;
    char *text = NULL;
    json_t *object = sidecar_value(run);
    const char *host = uname(&name) == 0 ? name.nodename : "unknown";
    if (object != NULL && json_object_set_new(object, "host", sidecar_text(host)) == 0) {
        text = json_dumps(object, JSON_COMPACT);
    }
    json_decref(object);
    return text;
}

/* The state of a rank that works for rank 0. */
typedef struct {
    PointGroups groups;
    Shared *shared; /* of the group that its last point was of */
    size_t group;   /* which that is */
    double memory;  /* that may be used */
} Bench;

static EvaluateStatus evaluate(Bench *bench, PointRows *rows, const Grid *grid, size_t index)
{
    size_t group = bench->groups.of[index];
    EvaluateStatus status = EVALUATE_OK;
    if (bench->shared == NULL || bench->group != group) {
        const PointGroup *members = &bench->groups.groups[group];
        shared_clear(bench->shared);
        bench->shared = NULL;
        bench->group = group;
        status = shared_make(&bench->shared, members->points, members->count,
                             shared_tape_room(bench->memory, members->count));
    }
    if (status == EVALUATE_OK) {
        status = rows_evaluate(rows, bench->shared, &grid->points[index]);
    }
    return status;
}

static void answer(EvaluateStatus status, const PointRows *rows)
{
    const Answer head = {.status = status, .length = rows->length, .seconds = rows->seconds};
    char *bytes = need_room(1, sizeof head + rows->length);
    memcpy(bytes, &head, sizeof head);
    if (rows->length > 0) {
        memcpy(bytes + sizeof head, rows->text, rows->length);
    }
    team_send(0, bytes, sizeof head + rows->length);
    free(bytes);
}

/* Until there is no more. */
static void serve(Bench *bench, const Grid *grid)
{
    for (;;) {
        char *bytes;
        size_t count;
        size_t index;
        PointRows rows = {0};
        (void)team_receive(&bytes, &count);
        memcpy(&index, bytes, sizeof index);
        free(bytes);
        if (index == NONE) {
            return;
        }
        EvaluateStatus status = evaluate(bench, &rows, grid, index);
        answer(status, &rows);
        rows_clear(&rows);
    }
}

void dispatch_serve(const RunRecord *run, double memory)
{
    Bench bench = {.memory = memory};
    char *text = introduction(run);
    bool ok = text != NULL;
    point_groups_make(&bench.groups, run->grid);
    if (ok) {
        team_send(0, text, strlen(text));
        serve(&bench, run->grid);
    }
    shared_clear(bench.shared);
    point_groups_clear(&bench.groups);
    free(text);
    if (!ok) {
        (void)memory_fault();
        team_abort(99); /* rank 0 waits for this one */
    }
}
