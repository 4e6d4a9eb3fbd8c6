/*
 * All rows of a head with bilinear scores (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROWS_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROWS_H

#include "bilinear.h"

/* All rows of a head at x^, and at x^ + e^, on the evaluator's threads. */
void bilinear_rows_here(const HeadAt *head, Radius *r, HeadSums *sums, const Outer *outer);
void bilinear_rows_there(const HeadAt *head, Radius *r, HeadSums *sums, const Outer *outer);

#endif
