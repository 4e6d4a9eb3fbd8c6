/*
 * Operations of an original model that are not heads.
 */
#ifndef HEADPROOF_KERNELS_DIRECT_H
#define HEADPROOF_KERNELS_DIRECT_H

#include "pass.h"

/* Scalars of scratch that direct_apply needs. */
double direct_scratch(const Layout *layout, const Direct *direct);

/* The sublayer's operation, in place on the stream [rows, ld]. */
void direct_apply(Scalar *stream, const Pass *pass, const Sublayer *sublayer);

#endif
