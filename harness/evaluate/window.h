/*
 * Rows of finished points, waiting until all points before theirs are committed.
 *
 * Apart from schedule.c because dispatch.c has a window too: rank 0's of an MPI job.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WINDOW_H
#define HEADPROOF_HARNESS_EVALUATE_WINDOW_H

#include "rows.h"

/* A point this many or more behind the oldest uncommitted one does not start, so that an
 * interruption loses few finished points and their rows take little memory. */
#define WINDOW_POINTS 256

/* A position is a point's place among those that the run evaluates, from 0. */
typedef struct {
    PointRows slots[WINDOW_POINTS]; /* a ring: position p is in slot p % WINDOW_POINTS */
    bool done[WINDOW_POINTS];
    size_t first; /* the oldest uncommitted position */
} Window;

/* May the point at that position start? */
bool window_admits(const Window *window, size_t position);

/* Takes the rows of a finished point; position was admitted. */
void window_put(Window *window, size_t position, PointRows *rows);

/* The oldest uncommitted point's rows once it is done, else NULL.  *more: so is the next. */
const PointRows *window_first(const Window *window, bool *more);

/* It is committed. */
void window_pop(Window *window);

void window_clear(Window *window);

#endif
