/*
 * A sweep's points as shards of the ranks of an MPI job, whose rows rank 0 collects.
 */
#include "dispatch.h"

#include "../../memory/need.h"
#include "../base/info.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../base/team.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* A rank says what it is, and gets the indices of the points that are its shard.  If there are any,
 * it answers so for each, with the rows' text behind, and in the end with the index DONE. */
#define DONE ((size_t)-1)
typedef struct {
    bool ok;
    size_t index, length;
    double seconds;
} Answer;

/* size: of the job; busy: ranks that are at their shards; begun: they have them. */
struct Dispatch {
    int size, busy;
    bool begun;
};

/* ---- Rank 0 ------------------------------------------------------------------------------ */

/* Waits for the rows of one point.  *stop: nobody wants more. */
static bool take_answer(Dispatch *dispatch, const Grid *grid, CommitRows *commit, void *context,
                        bool *stop)
{
    char *bytes;
    size_t count;
    Answer answer;
    (void)team_receive(&bytes, &count);
    memcpy(&answer, bytes, sizeof answer);
    if (answer.index == DONE) {
        dispatch->busy--;
        free(bytes);
        return answer.ok;
    }
    PointRows rows = {.text = bytes, .length = answer.length, .seconds = answer.seconds};
    memmove(bytes, bytes + sizeof answer, rows.length + 1);
    if (rows_read(&rows.outcome, rows.text, rows.length, &grid->points[answer.index]) !=
        rows.length) {
        rows_clear(&rows);
        return false;
    }
    *stop = !commit(context, answer.index, &rows, false);
    return true;
}

bool dispatch_run(Dispatch *dispatch, const Work *work, CommitRows *commit, void *context)
{
    size_t *points = need_zeros(work->count + 1, sizeof *points);
    bool ok = true, stop = false;
    for (int r = 1; r < dispatch->size; r++) {
        size_t count = work->count;
        memcpy(points, work->points, count * sizeof *points);
        shard_points(points, &count, work->grid, (size_t)r, (size_t)dispatch->size - 1);
        team_send(r, points, count * sizeof *points);
        dispatch->busy += count > 0;
    }
    free(points);
    dispatch->begun = true;
    while (dispatch->busy > 0 && ok && !stop) {
        ok = take_answer(dispatch, work->grid, commit, context, &stop);
    }
    return ok;
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
    for (int r = 1; !dispatch->begun && r < dispatch->size; r++) {
        team_send(r, "", 0);
    }
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
    for (int heard = 1; heard < size; heard++) {
        char *text;
        size_t count;
        int from = team_receive(&text, &count);
        json_t *said = json_loadb(text, count, 0, NULL);
        int found = said == NULL ? memory_fault() : compare_rank(*ranks, from, said, run);
        status = found > status ? found : status;
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
    json_t *object = sidecar_value(run, NULL);
    const char *host = uname(&name) == 0 ? name.nodename : "unknown";
    if (object != NULL && json_object_set_new(object, "host", sidecar_text(host)) == 0) {
        text = json_dumps(object, JSON_COMPACT);
    }
    json_decref(object);
    return text;
}

static void answer(const Answer *head, const char *text)
{
    char *bytes = need_room(1, sizeof *head + head->length);
    memcpy(bytes, head, sizeof *head);
    memcpy(bytes + sizeof *head, text, head->length);
    team_send(0, bytes, sizeof *head + head->length);
    free(bytes);
}

static bool send_rows(void *context, size_t index, PointRows *rows, bool more)
{
    (void)context;
    (void)more;
    answer(&(Answer){.index = index, .length = rows->length, .seconds = rows->seconds}, rows->text);
    rows_clear(rows);
    return true;
}

void dispatch_serve(const RunRecord *run, double memory)
{
    char *text = introduction(run), *points;
    size_t size;
    if (text == NULL) {
        (void)memory_fault();
        team_abort(99); /* rank 0 waits for this one */
        return;
    }
    team_send(0, text, strlen(text));
    free(text);
    (void)team_receive(&points, &size);
    const Work work = {.grid = run->grid,
                       .points = (const size_t *)(const void *)points,
                       .count = size / sizeof(size_t),
                       .memory = memory};
    if (work.count > 0) {
        answer(&(Answer){.ok = schedule_run(&work, 1, send_rows, NULL), .index = DONE}, "");
    }
    free(points);
}
