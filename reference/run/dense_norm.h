/*
 * A layer norm by its definition (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_DENSE_NORM_H
#define HEADPROOF_REFERENCE_RUN_DENSE_NORM_H

#include "../../cases/model.h"
#include "../numbers/ap.h"

/* y = norm(x), streams [rows, dense_width]; y may be x. */
void dense_norm(const Layout *layout, const LayerNorm *norm, const ApMat *x, ApMat *y);

#endif
