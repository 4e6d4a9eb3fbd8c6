/*
 * The rows of a point as text, and what they say.
 *
 * Verdicts and summaries are read from the text that is committed, so that they are the same
 * whether a point was evaluated just now, by another process, or before an interruption.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_ROWS_H
#define HEADPROOF_HARNESS_EVALUATE_ROWS_H

#include "evaluate.h"
#include "../table/summary.h"

/* text: the csv bytes of a table's rows, then the shown bytes of what a terminal gets. */
typedef struct {
    char *text;
    size_t csv, shown;
    double seconds; /* wall time of the evaluation */
} PointRows;

/* failed_layer: the first, or 0 when the point passes; bounds: cells that are only bounds. */
typedef struct {
    size_t failed_layer;
    Status failed_status;
    size_t bounds;
    PointSummary summary;
} PointOutcome;

/* Evaluates a point; terminal: shown is made too. */
EvaluateStatus rows_evaluate(PointRows *rows, const Shared *shared, const Point *point,
                             bool terminal) __attribute__((warn_unused_result));
void rows_clear(PointRows *rows);

/* Reads the point's rows at the beginning of text [size], which ends in a NUL.  Returns their
 * length; 0 when they are not all there as they are written, or (errno ENOMEM) memory is short. */
size_t rows_read(PointOutcome *outcome, const char *text, size_t size, const Point *point)
    __attribute__((warn_unused_result));

#endif
