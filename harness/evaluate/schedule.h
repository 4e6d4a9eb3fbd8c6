/*
 * Points over threads.
 *
 * A point starts in grid order as far as the bases and the memory allow: what is predicted for all
 * that is there and for the point itself must fit.  A base, which one thread makes while others go
 * on, is made once, and stays until its group is done; there is always room for one of its points.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_SCHEDULE_H
#define HEADPROOF_HARNESS_EVALUATE_SCHEDULE_H

#include "../grid/point_groups.h"
#include "rows.h"

/* The points of a run, and its memory. */
typedef struct {
    const Grid *grid;
    const size_t *points; /* [count], ascending indices into the grid */
    size_t count;
    double memory; /* bytes that may be used */
} Work;

/* Called for every point when it is evaluated, one call at a time; false stops the run.  What *rows
 * holds is the callee's from there on.  more: the next call follows at once, so what is written
 * need not be on disk yet. */
typedef bool CommitRows(void *context, size_t index, PointRows *rows, bool more);

/* false: a layer could not be had; commit may stop the run early. */
bool schedule_run(const Work *work, int threads, CommitRows *commit, void *context)
    __attribute__((warn_unused_result));

#endif
