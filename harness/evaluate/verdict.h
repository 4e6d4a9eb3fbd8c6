/*
 * A row's status, and whether it passes.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_VERDICT_H
#define HEADPROOF_HARNESS_EVALUATE_VERDICT_H

#include "../point/point.h"

#include <math.h>

/* The larger of two errors, or bounds; NaN is worse than any number, and stays. */
static inline double worse(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* Is 2 Omega infinite as the machine has it, and given to scores? */
bool point_overflows(const Point *point);

/* Sets the row's status, which follows from its errors. */
void row_finish(const Point *point, Row *row);

/* The tolerance's verdict on a row that is finished.  Without a tolerance: no error, overflow or
 * exceeded bound.  With one: the judged cell is a number and <= tolerance, its upper bound where it
 * is unresolved, and the comparison is not vacuous.  NaN never passes.  Of a value the status says
 * so: in a row that is read back its digits are rounded. */
bool row_passes(const Point *point, const Row *row);

#endif
