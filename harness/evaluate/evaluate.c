/*
 * The rows of one point: layers evaluated and compared, precision raised where digits are not
 * proven.
 */
#include "evaluate.h"

#include "../../memory/need.h"
#include "precision.h"
#include "verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point's rows in the making, at one precision after another: both models are behind layer
 * `done`, and so far the rows came to `found`. */
typedef struct {
    Evaluation evaluation;
    Row *rows; /* [depth] */
    size_t depth, done;
    RowsFound found;
    const PointSink *sink;
} Making;

/* Shows the streams behind the last layer to the receiver that asked for them. */
static void show_final(const Making *making)
{
    const Evaluation *evaluation = &making->evaluation;
    const Pair *pair = &evaluation->shared->pair;
    const FinalStreams streams = {.shared = evaluation->shared,
                                  .point = evaluation->point,
                                  .layer = {pair, evaluation->base, pair->original.depth,
                                            evaluation->run, &evaluation->converted,
                                            &evaluation->original}};
    if (making->sink->final != NULL) {
        making->sink->final(making->sink->context, &streams);
    }
}

/* Adds the verdict on a row that was just compared to those on the rows before it. */
static void judge_row(Making *making, Row *row)
{
    const Evaluation *evaluation = &making->evaluation;
    const Point *point = evaluation->point;
    RowsFound *found = &making->found;
    const RefCell *judged = &row->errors.error[point->judge][point->norm];
    row_finish(point, row);
    found->passed = row_passes(point, row) && found->passed;
    found->lacking = fmax(found->lacking, precision_lacking(evaluation, row));
    found->wanted = fmax(found->wanted, precision_wanted(evaluation, judged));
}

/* All layers at one precision. */
static EvaluateStatus evaluate_at(Making *making)
{
    Evaluation *evaluation = &making->evaluation;
    making->done = 0;
    making->found = (RowsFound){.passed = true};
    evaluation_open(evaluation, true);
    bool ok = true;
    while (ok && making->done < making->depth) {
        Row *row = &making->rows[making->done++];
        ok = evaluation_layer(evaluation, making->done, row);
        if (ok) {
            judge_row(making, row);
        }
    }
    if (ok) {
        show_final(making);
    }
    evaluation_close(evaluation);
    return ok ? EVALUATE_OK : EVALUATE_NO_LAYER;
}

/* Once more with other bits and a base of its own. */
static EvaluateStatus evaluate_again(Making *making, mpfr_prec_t bits)
{
    Evaluation *evaluation = &making->evaluation;
    evaluation->bits = bits;
    RefBase *base = evaluation_own_base(evaluation);
    if (base == NULL) {
        return EVALUATE_NO_LAYER;
    }
    evaluation->base = base;
    EvaluateStatus status = evaluate_at(making);
    ref_base_clear(base);
    return status;
}

/* At more bits while digits are not proven, or a judged error is a bound above the tolerance. */
static EvaluateStatus evaluate_rows(Making *making)
{
    const Evaluation *evaluation = &making->evaluation;
    EvaluateStatus status = evaluation_needs_base(evaluation)
                                ? evaluate_again(making, evaluation->bits)
                                : evaluate_at(making);
    mpfr_prec_t bits;
    for (int raises = 0;
         status == EVALUATE_OK && precision_next(&bits, evaluation, &making->found, raises);
         raises++) {
        status = evaluate_again(making, bits);
    }
    return status;
}

/* m(T') alone. */
static EvaluateStatus evaluate_machine(bool *passed, Making *making)
{
    Evaluation *evaluation = &making->evaluation;
    EvaluateStatus status = EVALUATE_OK;
    *passed = true;
    evaluation_open(evaluation, false);
    for (size_t l = 0; l < making->depth && status == EVALUATE_OK; l++) {
        Row *row = &making->rows[l];
        if (!evaluation_layer(evaluation, l + 1, row)) {
            status = EVALUATE_NO_LAYER;
        }
        row_finish(evaluation->point, row);
        *passed = row_passes(evaluation->point, row) && *passed;
    }
    evaluation_close(evaluation);
    return status;
}

/* The precision, then the rows. */
static EvaluateStatus evaluate_point(bool *passed, Making *making)
{
    Evaluation *evaluation = &making->evaluation;
    evaluation_begin(evaluation);
    EvaluateStatus status = evaluate_rows(making);
    *passed = status == EVALUATE_OK && making->found.passed;
    return status;
}

EvaluateStatus point_evaluate(bool *passed, const Shared *shared, const Point *point,
                              const PointSink *sink)
{
    size_t depth = shared->pair.converted.depth;
    Row *rows = need_zeros(depth, sizeof *rows);
    for (size_t l = 0; l < depth; l++) {
        row_init(&rows[l], point);
    }
    Making making = {.evaluation = {.shared = shared, .point = point},
                     .rows = rows,
                     .depth = depth,
                     .sink = sink};
    EvaluateStatus status =
        (point_has_reference(point) ? evaluate_point : evaluate_machine)(passed, &making);
    for (size_t l = 0; status == EVALUATE_OK && l < depth; l++) {
        sink->row(sink->context, point, &rows[l]);
    }
    for (size_t l = 0; l < depth; l++) {
        row_clear(&rows[l]);
    }
    free(rows);
    return status;
}

EvaluateStatus point_final_rows(double *x, RefRows rows, const Shared *shared, const Point *point)
{
    const Model *model = &shared->pair.converted;
    Evaluation evaluation = {.shared = shared, .point = point};
    evaluation_open(&evaluation, false);
    KernelStream stream = {0};
    bool ok = true;
    for (size_t l = 0; l < model->depth && (ok = model_enter(model, l)); l++) {
        stream = evaluation.machine->functions->layer(evaluation.kernel);
        model_leave(model, l);
    }
    for (size_t i = 0; ok && i < rows.count; i++) {
        size_t row = layout_token_row(&model->layout, rows.first + i), d = model->layout.d;
        memcpy(x + i * d, stream.data + row * stream.ld, d * sizeof *x);
    }
    evaluation_close(&evaluation);
    return ok ? EVALUATE_OK : EVALUATE_NO_LAYER;
}
