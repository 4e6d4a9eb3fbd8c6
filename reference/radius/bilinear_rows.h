/*
 * All rows of a head with bilinear scores (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROWS_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROWS_H

#include "bilinear.h"

/* All rows of a head at x^ (here), or at x^ + e^, on the evaluator's threads. */
void bilinear_rows(const HeadAt *head, Radius *r, HeadSums *sums, const Outer *outer, bool here);

#endif
