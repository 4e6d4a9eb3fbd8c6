/*
 * A layer of an original model in real numbers: loops over its formulas (cases/model.h), which know
 * nothing of how anything is evaluated.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_REAL_LAYER_H
#define HEADPROOF_TESTS_REFERENCE_REAL_LAYER_H

#include "../../cases/model.h"
#include "../real.h"

/* x [n, d + hidden] becomes the stream behind layer `layer`, from 0, norms and all.  Of activations
 * SiLU alone. */
void real_layer(Real *x, const Model *model, size_t layer);

#endif
