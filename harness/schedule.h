/*
 * Points over threads.
 *
 * Points that agree in spec and reference form are a group and share a base trajectory, which
 * one thread makes while others go on.  Points start in grid order as far as their bases allow,
 * and finish in any order; the caller commits them in grid order.
 */
#ifndef HEADPROOF_HARNESS_SCHEDULE_H
#define HEADPROOF_HARNESS_SCHEDULE_H

#include "evaluate.h"
#include "grid.h"

/* Evaluates points[index].  Called from several threads at once. */
typedef EvaluateStatus PointWork(void *context, const Shared *shared, size_t index);

/* Called after each point, one call at a time; false stops the sweep. */
typedef bool PointDone(void *context, size_t index);

/* EVALUATE_OK also when done stopped the sweep early. */
EvaluateStatus schedule_run(const Grid *grid, int threads, PointWork *work, PointDone *done,
                            void *context) __attribute__((warn_unused_result));

/* Do two points share a base? */
bool points_share_base(const Point *a, const Point *b);

#endif
