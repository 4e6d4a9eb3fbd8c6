/*
 * The rows of a point as text, and what they say.
 *
 * Whoever evaluates a point knows its outcome; of rows that another process evaluated, or this
 * command before an interruption, it is read from the text, which says the same.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_ROWS_H
#define HEADPROOF_HARNESS_EVALUATE_ROWS_H

#include "evaluate.h"
#include "../table/summary.h"

/* failed_layer: the first, or 0 when the point passes; bounds: cells that are only bounds. */
typedef struct {
    size_t failed_layer;
    Status failed_status;
    size_t bounds;
    PointSummary summary;
} PointOutcome;

/* text [length]: lines of a table. */
typedef struct {
    char *text;
    size_t length;
    PointOutcome outcome;
    double seconds; /* wall time of the evaluation */
} PointRows;

/* Evaluates a point.  false: a layer cannot be had. */
bool rows_evaluate(PointRows *rows, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));
void rows_clear(PointRows *rows);

/* Reads the point's rows at the beginning of text [size], which ends in a NUL.  Returns their
 * length; 0 when they are not all there as they are written. */
size_t rows_read(PointOutcome *outcome, const char *text, size_t size, const Point *point)
    __attribute__((warn_unused_result));

#endif
