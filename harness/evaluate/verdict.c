/*
 * A row's status, and whether it passes.
 */
#include "verdict.h"

#include <math.h>

/* r(T) says nothing to a machine: zero, or outside the format's normal range. */
static bool row_vacuous(const Point *point, const Row *row)
{
    mpfr_srcptr size = row->errors.max_original;
    if (mpfr_zero_p(size)) {
        return true;
    }
    if (point->arithmetic == ARITHMETIC_NONE) {
        return false;
    }
    const FormatInfo *format = arithmetic_format(arithmetic_info(point->arithmetic));
    return mpfr_cmp_d(size, format->smallest) < 0 || mpfr_cmp_d(size, format->largest) > 0;
}

/* No rewrite is there then, even where what came out is finite.  Taken away, 2 Omega may be
 * infinite: a score of minus infinity has the weight 0 that it stands for, and where the machine
 * multiplies by it the rows are NaN and tell. */
bool point_overflows(const Point *point)
{
    const ConstructionInfo *info = construction_info(point->spec.construction);
    if (point->arithmetic == ARITHMETIC_NONE || info->masked ||
        point->penalty == PENALTY_NEGATIVE) {
        return false;
    }
    NumberFormat operand = arithmetic_info(point->arithmetic)->formats.operand;
    return isinf(format_nearest(operand, 2 * point_omega(point)));
}

static bool row_overflow(const Point *point, const Row *row)
{
    if (point_overflows(point)) {
        return true;
    }
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        if (row->errors.error[kind][NORM_MAX].state == CELL_NONFINITE) {
            return true;
        }
    }
    return false;
}

void row_finish(const Point *point, Row *row)
{
    const RefCell *judged = &row->errors.error[point->judge][point->norm];
    const RefCell *construction = &row->errors.error[ERROR_CONSTRUCTION][NORM_MAX];
    bool judges = point_judges_rows(point);
    bool fails = judges && judged->state == CELL_VALUE &&
                 !(mpfr_cmp_d(judged->value, point->tolerance) <= 0);
    bool unresolved = construction->state == CELL_BOUND || (judges && judged->state == CELL_BOUND);
    bool lost = row->errors.contradiction || row->errors.left_range;
    row->status = lost                       ? STATUS_ERROR
                  : row_overflow(point, row) ? STATUS_OVERFLOW
                  : fails                    ? STATUS_FAIL
                  : row_vacuous(point, row)  ? STATUS_VACUOUS
                  : unresolved               ? STATUS_UNRESOLVED
                                             : STATUS_OK;
}

bool row_passes(const Point *point, const Row *row)
{
    const RefCell *judged = &row->errors.error[point->judge][point->norm];
    if (row->status == STATUS_ERROR || row->status == STATUS_OVERFLOW ||
        row->status == STATUS_FAIL) {
        return false;
    }
    if (!point_judges_rows(point)) {
        return true;
    }
    bool within = judged->state == CELL_BOUND && mpfr_number_p(judged->value) &&
                  mpfr_cmp_d(judged->value, point->tolerance) <= 0;
    return row->status != STATUS_VACUOUS &&
           (within || judged->state == CELL_VALUE || judged->state == CELL_ZERO);
}
