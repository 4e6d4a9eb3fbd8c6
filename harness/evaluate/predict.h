/*
 * What a grid will take, before any work.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_PREDICT_H
#define HEADPROOF_HARNESS_EVALUATE_PREDICT_H

#include "../grid/grid.h"

/* Bytes that may be used: those asked for, if any (> 0), else four fifths of the machine's memory, or
 * of what the process may map (ulimit -v) where that is less. */
double memory_room(double asked);

/* Rejects points that no model can be made of and points that would not fit in memory bytes (0:
 * memory_room(0)) alone; lowers *threads (unless NULL) until as many of the largest point fit.  0,
 * or 2 after a message with the figure and the point's command line. */
int grid_predict(const Grid *grid, double memory, int *threads) __attribute__((warn_unused_result));

/* What a point's parts take, in seconds on some machine: what its base shares with other points
 * (the plan, r(T), r(T_infinity), m(T)), r(T'), and m(T').  A model of the work, good for comparing
 * points and for shares of progress, not for promising times. */
typedef struct {
    double base, reference, machine;
} PointCost;

/* Multiply-adds and exponentials of each evaluation, by the shapes of its bundles and by form
 * (structured, or the full matrices), times what one takes at the point's bits: between
 * 128 and 3072 bits the best dot products and exponentials in use follow 15 + 60 (p/512)^1.55 and
 * 150 + 870 (p/512)^1.8 ns to a fifth.  The bits are 2 Omega log2 e
 * and 192, or 192 where that is above the cap.  All 0 for a case that no model can be made of. */
PointCost point_cost_parts(const Point *point);

/* Their sum, > 0. */
double point_cost(const Point *point);

#endif
