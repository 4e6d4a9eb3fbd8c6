/*
 * The rows of one point, evaluated from what the points of its case share.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_EVALUATE_H
#define HEADPROOF_HARNESS_EVALUATE_EVALUATE_H

#include "shared.h"

/* Called with each row, from layer 1 on; false stops the evaluation. */
typedef bool RowSink(void *context, const Point *point, const Row *row);

/* Evaluates one point: precision as the point says or as planned, raised where a value that was
 * promised did not come out, and where the judged error is a bound above the tolerance, until it is
 * a value or within.  *passed: no row fails (see row_passes). */
EvaluateStatus point_evaluate(bool *passed, const Shared *shared, const Point *point, RowSink *sink,
                              void *context) __attribute__((warn_unused_result));

/* The point's judged error in one number: the largest over all layers, upper bounds where
 * unresolved; NaN where a machine value is not finite or the norm does not exist.  r(T') is
 * evaluated only for the kinds that need it. */
EvaluateStatus point_worst_error(mpfr_ptr worst, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* The same as a cell, which may be 0 by proof or a bound; worst->value is initialised. */
EvaluateStatus point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* m(T'): the last token's row of the stream after the last layer, x [d]. */
EvaluateStatus point_final_row(double *x, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

#endif
