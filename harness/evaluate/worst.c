/*
 * A point's judged error in one number: the worst of all its layers.
 */
#include "evaluate.h"

#include "evaluation.h"
#include "verdict.h"

#include <math.h>

bool cell_is_worse(const RefCell *cell, const RefCell *worst)
{
    bool nonfinite = cell->state == CELL_NONFINITE;
    if (nonfinite != (worst->state == CELL_NONFINITE)) {
        return nonfinite;
    }
    if (nonfinite) {
        return mpfr_nan_p(cell->value) && !mpfr_nan_p(worst->value);
    }
    if (cell->state == CELL_ZERO || worst->state == CELL_ZERO) {
        return cell->state != CELL_ZERO;
    }
    return mpfr_greater_p(cell->value, worst->value) ||
           (mpfr_equal_p(cell->value, worst->value) && cell->state > worst->state);
}

/* *worst becomes the cell if that is worse.  false: it is no number, and so is *worst. */
static bool worsen(RefCell *worst, const RefCell *cell, bool contradiction)
{
    bool number = cell->state == CELL_ZERO || mpfr_number_p(cell->value);
    if (cell->state == CELL_ABSENT || !number || contradiction) {
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return false;
    }
    if (cell_is_worse(cell, worst)) {
        ref_cell_set(worst, cell);
    }
    return true;
}

/* Of the layers so far. */
static bool take_layer(void *context, RowsFound *found, const Evaluation *evaluation, Row *row)
{
    RefCell *worst = context;
    const RefCell *cell = &row->errors.error[evaluation->point->judge][evaluation->point->norm];
    if (row->layer == 1) {
        worst->state = CELL_ZERO;
        mpfr_set_zero(worst->value, 1);
    }
    bool number = worsen(worst, cell, row->errors.contradiction);
    found->wanted = fmax(found->wanted, number ? precision_wanted(evaluation, cell) : 0);
    if (cell->state == CELL_BOUND) {
        found->lacking = fmax(found->lacking, precision_proof_lacking(evaluation, row));
    }
    return number;
}

EvaluateStatus point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
{
    ErrorKind judge = point->judge;
    bool reference = judge == ERROR_CONSTRUCTION || judge == ERROR_ROUNDING;
    bool converted = judge == ERROR_ROUNDING || judge == ERROR_TOTAL || judge == ERROR_OBSERVED;
    Evaluation evaluation;
    RowsFound found;
    if (converted && point_overflows(point)) { /* as row_finish has it */
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return EVALUATE_OK;
    }
    evaluation_init(&evaluation, shared, point, reference);
    EvaluateStatus status = precision_rows(&found, &evaluation, take_layer, worst);
    evaluation_clear(&evaluation);
    return status;
}
