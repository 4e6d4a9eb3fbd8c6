/*
 * What a head with bilinear scores makes of e's radii (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_CHANGE_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_CHANGE_H

#include "bilinear_row.h"

/* Of each row: e in the columns that scores read, and in those of values; at most |v'|, and the
 * most of that.  A thread has one. */
typedef struct {
    double *score, *value, *moved;
    double *visible, *p, *part; /* scratch, for one row's keys */
    double most;
} HeadChange;

/* False: memory is short. */
bool head_change_open(HeadChange *change, const HeadAt *head, const Radius *r)
    __attribute__((warn_unused_result));
void head_change_clear(HeadChange *change);

/* Rounding of e's part of row i, and what rho adds to it, at x^.  False: the row's scores change by
 * too much for the latter. */
bool head_change_row(const HeadChange *of, const RowKeys *row, Radius *r, HeadSums *sums, size_t i)
    __attribute__((warn_unused_result));

#endif
