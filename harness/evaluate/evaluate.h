/*
 * The rows of one point, evaluated from what the points of its case share.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_EVALUATE_H
#define HEADPROOF_HARNESS_EVALUATE_EVALUATE_H

#include "shared.h"

/* Looks at the streams after the last layer, with a run and both machines' views, which are there
 * as long as the call lasts: once, or once more each time the precision is raised, and the last
 * time counts.  The point has a reference and a machine then. */
typedef void FinalSink(void *context, const Point *point, const RefLayer *last);

/* Evaluates one point: precision as the point says or as r(T) asks for, raised where digits are not
 * proven, and where the judged error is a bound above the tolerance, until it is a value or
 * within.  final: with its context, or NULL.  The rows [depth], to be freed; NULL: a layer cannot
 * be had. */
Row *point_evaluate(const Shared *shared, const Point *point, FinalSink *final, void *context)
    __attribute__((warn_unused_result));

/* NULL is fine. */
void point_rows_free(Row *rows, const Point *point);

/* Is a cell worse than another?  A total order, so that threads change nothing: not a number,
 * infinite, larger, of equals a bound before a value, and what is absent last. */
bool cell_is_worse(const RefCell *cell, const RefCell *worst);

/* The largest over all layers, upper bounds where unresolved; NaN where a machine value is not
 * finite or the norm does not exist.  It may be 0 by proof or a bound; worst->value is initialised.
 * r(T') is evaluated only for the kinds that need it.  false: a layer cannot be had. */
bool point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

#endif
