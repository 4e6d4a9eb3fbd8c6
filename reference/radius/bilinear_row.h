/*
 * One row of a head with bilinear scores (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROW_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_ROW_H

#include "bilinear.h"

/* head->seen and the sums of row i. */
RowSum bilinear_row(HeadAt *head, const Radius *r, size_t i);

/* Of a product with k terms a sum in doubles, relative to norms. */
double gemm_off(size_t k);

#endif
