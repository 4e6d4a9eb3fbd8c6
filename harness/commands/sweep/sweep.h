/*
 * The insides of `headproof sweep` (private to it).
 *
 *   sweep.c    the command: points evaluated and committed in order, the summary
 *   resume.c   what an interrupted run left, taken up
 *
 * Umbrella header: for both.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_SWEEP_SWEEP_H
#define HEADPROOF_HARNESS_COMMANDS_SWEEP_SWEEP_H

#include "../../base/progress.h"
#include "../../evaluate/dispatch.h"
#include "../../evaluate/rows.h"
#include "../../table/live.h"
#include "../../table/sink.h"

#include <pthread.h>

/* rows, done, summaries [record.count]: of the points that are there.  taken: points before it are
 * all there, and were written, where no journal has them, and reported.  writing: held while rows
 * or files are written. */
typedef struct {
    const Grid *grid;
    const RunOptions *options;
    Sink sink;
    Dispatch *dispatch; /* NULL: no other ranks */
    RunRecord run;
    SweepRecord record;
    PointRows *rows;
    bool *done;
    PointSummary *summaries;
    size_t count, taken, failures, bounds; /* bounds: cells */
    Live live;                             /* a terminal's table */
    Progress progress;
    int write_error;
    pthread_mutex_t writing;
} Sweep;

/* The point at a position of those that are evaluated. */
const Point *sweep_point(const Sweep *sweep, size_t position);

/* The position of a point of the grid; record.count: it is not evaluated. */
size_t sweep_position(const Sweep *sweep, size_t index);

/* A point is there, whose rows are the sweep's from here on: what it means for the table, the
 * verdict and the summary, as soon as all before it are there.  rows->text may be NULL where a
 * journal has them; rows->seconds is negative where they were not measured.  more: another follows
 * at once.  False (errno): what is written failed. */
bool sweep_take(Sweep *sweep, size_t position, PointRows *rows, bool more);

/* The columns of --propagation are among them where that is asked for. */
void sweep_write_header(FILE *file, const RunOptions *run);

/* The line or lines before the rows; free it. */
char *sweep_header(const Sweep *sweep) __attribute__((warn_unused_result));

/* Takes in the points that are in the journal, or in the complete file: *complete.  0; 2 after a
 * message when they are not this sweep's; 99 after one. */
int sweep_take_kept(Sweep *sweep, bool *complete) __attribute__((warn_unused_result));

#endif
