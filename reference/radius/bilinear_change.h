/*
 * What a head with bilinear scores makes of e's radii (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_CHANGE_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_CHANGE_H

#include "bilinear.h"

/* Rounding of e's part of row i, and what rho adds to it; after bilinear_row at x^.  False: the
 * row's scores change by too much for the latter. */
bool bilinear_change(HeadAt *head, Radius *r, HeadSums *sums, const RowSum *row, size_t i);

#endif
