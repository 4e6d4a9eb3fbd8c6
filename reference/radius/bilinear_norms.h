/*
 * Norms of the weights of heads with bilinear scores (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_BILINEAR_NORMS_H
#define HEADPROOF_REFERENCE_RADIUS_BILINEAR_NORMS_H

#include "bilinear.h"

enum { FACTOR_Q, FACTOR_K, FACTOR_V, FACTORS };

/* Of each head of a bundle, queries' with the scores' scale; and of what follows them all. */
typedef struct {
    Factor (*head)[FACTORS];
    Outer outer;
} BundleNorms;

/* On the evaluator's threads.  False: memory is short. */
bool bundle_norms_open(BundleNorms *norms, const Radius *r, const Bundle *bundle)
    __attribute__((warn_unused_result));
void bundle_norms_clear(BundleNorms *norms);

#endif
