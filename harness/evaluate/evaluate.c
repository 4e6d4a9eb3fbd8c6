/*
 * The rows of one point, judged as they are evaluated.
 */
#include "evaluate.h"

#include "evaluation.h"
#include "verdict.h"

#include <math.h>

/* Adds the verdict on a row that was just compared to those on the rows before it; behind the last
 * layer, shows the streams to the receiver that asked for them. */
static bool judge_row(void *context, RowsFound *found, const Evaluation *evaluation, Row *row)
{
    const PointSink *sink = context;
    const Point *point = evaluation->point;
    const Pair *pair = &evaluation->shared->pair;
    row_finish(point, row);
    found->passed = row_passes(point, row) && found->passed;
    if (evaluation->base != NULL) {
        const RefCell *judged = &row->errors.error[point->judge][point->norm];
        found->lacking = fmax(found->lacking, precision_lacking(evaluation, row));
        found->wanted = fmax(found->wanted, precision_wanted(evaluation, judged));
    }
    if (row->layer == pair->original.depth && sink->final != NULL) {
        const FinalStreams streams = {.shared = evaluation->shared,
                                      .point = point,
                                      .layer = {pair, evaluation->base, row->layer, evaluation->run,
                                                &evaluation->converted, &evaluation->original}};
        sink->final(sink->context, &streams);
    }
    return true;
}

EvaluateStatus point_evaluate(bool *passed, const Shared *shared, const Point *point,
                              const PointSink *sink)
{
    Evaluation evaluation;
    RowsFound found;
    PointSink own = *sink;
    evaluation_init(&evaluation, shared, point, point_has_reference(point));
    EvaluateStatus status = precision_rows(&found, &evaluation, judge_row, &own);
    for (size_t l = 0; status == EVALUATE_OK && l < shared->pair.converted.depth; l++) {
        sink->row(sink->context, point, &evaluation.rows[l]);
    }
    *passed = status == EVALUATE_OK && found.passed;
    evaluation_clear(&evaluation);
    return status;
}
