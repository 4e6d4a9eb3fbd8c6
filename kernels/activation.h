/*
 * Activation functions, as a user's program evaluates them.
 */
#ifndef HEADPROOF_KERNELS_ACTIVATION_H
#define HEADPROOF_KERNELS_ACTIVATION_H

#include "scalar.h"

#include "../cases/model.h"

/* x [count] = act(x), each in Scalars. */
void activation_apply(Activation activation, Scalar *x, size_t count);

#endif
