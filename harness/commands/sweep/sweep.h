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

/* summaries [record.count].  writing: held while rows or files are written. */
typedef struct {
    const Grid *grid;
    const RunOptions *options;
    Sink sink;
    Dispatch *dispatch; /* NULL: no other ranks */
    RunRecord run;
    SweepRecord record;
    PointSummary *summaries;
    size_t committed, failures, bounds; /* bounds: cells */
    Live live;                          /* a terminal's table */
    Progress progress;
    int write_error;
    pthread_mutex_t writing;
} Sweep;

/* The point at a position of those that are evaluated. */
const Point *sweep_point(const Sweep *sweep, size_t position);

/* The next point is committed: what it means for the verdict and the summary.  seconds: negative
 * where they were not measured. */
void sweep_take_outcome(Sweep *sweep, const PointOutcome *outcome, double seconds);

/* The columns of --propagation are among them where that is asked for. */
void sweep_write_header(FILE *file, const RunOptions *run);

/* The line or lines before the rows; free it. */
char *sweep_header(const Sweep *sweep) __attribute__((warn_unused_result));

/* True when the file is there already, of a run like this. */
bool sweep_is_complete(const Sweep *sweep);

/* Takes in the points that are in the file; *kept: bytes of their rows.  0; 2 after a
 * message when they are not this sweep's; 99 after one. */
int sweep_take_kept(Sweep *sweep, size_t *kept) __attribute__((warn_unused_result));

#endif
