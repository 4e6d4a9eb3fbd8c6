/*
 * A point's judged error in one number: the worst of all its layers; and which of two is worse.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WORST_H
#define HEADPROOF_HARNESS_EVALUATE_WORST_H

#include "shared.h"

/* Is a cell, which is there, worse than another?  A total order, so that threads change nothing:
 * not a number, infinite, larger, and of equals a bound before a value. */
bool cell_is_worse(const RefCell *cell, const RefCell *worst);

/* The largest over all layers, upper bounds where unresolved; NaN where a machine value is not
 * finite or the norm does not exist.  It may be 0 by proof or a bound; worst->value is initialised.
 * r(T') is evaluated only for the kinds that need it. */
EvaluateStatus point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

#endif
