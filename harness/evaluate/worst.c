/*
 * A point's judged error in one number: the worst of all its layers.
 */
#include "worst.h"

#include "precision.h"
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

/* The worst over all layers at one precision; r(T') where `reference`. */
static EvaluateStatus worst_at(RefCell *worst, RowsFound *found, Evaluation *evaluation,
                               bool reference)
{
    const Point *point = evaluation->point;
    size_t depth = evaluation->shared->pair.converted.depth;
    EvaluateStatus status = EVALUATE_OK;
    bool number = true;
    Row row;
    worst->state = CELL_ZERO;
    mpfr_set_zero(worst->value, 1);
    evaluation_open(evaluation, reference);
    row_init(&row, point);
    for (size_t l = 0; l < depth && number; l++) {
        if (!evaluation_layer(evaluation, l + 1, &row)) {
            status = EVALUATE_NO_LAYER;
            break;
        }
        const RefCell *cell = &row.errors.error[point->judge][point->norm];
        number = worsen(worst, cell, row.errors.contradiction);
        found->wanted = fmax(found->wanted, number ? precision_wanted(evaluation, cell) : 0);
        if (cell->state == CELL_BOUND) {
            found->lacking = fmax(found->lacking, precision_proof_lacking(evaluation, &row));
        }
    }
    row_clear(&row);
    evaluation_close(evaluation);
    return status;
}

/* Is the judged error one of the machine's T'? */
static bool judges_converted(const Point *point)
{
    return point->judge == ERROR_ROUNDING || point->judge == ERROR_TOTAL ||
           point->judge == ERROR_OBSERVED;
}

EvaluateStatus point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
{
    bool reference = point->judge == ERROR_CONSTRUCTION || point->judge == ERROR_ROUNDING;
    Evaluation evaluation = {.shared = shared, .point = point};
    RefBase *base = NULL;
    mpfr_prec_t next;
    if (judges_converted(point) && point_overflows(point)) { /* as row_finish has it */
        worst->state = CELL_NONFINITE;
        mpfr_set_nan(worst->value);
        return EVALUATE_OK;
    }
    bool ok = true;
    evaluation_begin(&evaluation);
    if (!reference) {
        evaluation.base = shared->base;
        evaluation.bits = ref_base_bits(shared->base);
    }
    for (int raises = 0; ok;) {
        RowsFound found = {0};
        if (evaluation_needs_base(&evaluation)) {
            ref_base_clear(base);
            base = evaluation_own_base(&evaluation);
            evaluation.base = base;
        }
        ok = evaluation.base != NULL &&
             worst_at(worst, &found, &evaluation, reference) == EVALUATE_OK;
        if (ok && precision_next(&next, &evaluation, &found, raises)) {
            evaluation.bits = next;
            raises++;
        } else {
            break;
        }
    }
    ref_base_clear(base);
    return ok ? EVALUATE_OK : EVALUATE_NO_LAYER;
}
