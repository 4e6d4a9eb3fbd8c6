/*
 * Banks of columns, and norms as numbers (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_PART_NORM_H
#define HEADPROOF_REFERENCE_GUARANTEE_PART_NORM_H

#include "part.h"

/* 1/sqrt(eps), sqrt(D), the largest |gamma| and |beta|. */
NormBound norm_bound(const LayerNorm *norm, const Layout *layout);

/* The bank that columns are exactly, or BANKS. */
Bank bank_of(const Layout *layout, Columns columns);

/* At least how many times longer a change of at most `error` becomes: 1/sqrt(s), of any row on the
 * way. */
Magnitude norm_steepest(const NormBound *norm, Magnitude error);

#endif
