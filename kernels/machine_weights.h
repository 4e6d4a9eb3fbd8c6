/*
 * A model's weights as the machine has them: rounded from the doubles given to what they are stored
 * in, and as operands of products.
 */
#ifndef HEADPROOF_KERNELS_MACHINE_WEIGHTS_H
#define HEADPROOF_KERNELS_MACHINE_WEIGHTS_H

#include "../cases/model.h"
#include "arithmetic.h"
#include "scalar.h"

typedef struct Weights Weights;

/* Of any layer of the model, one at a time; for double they are the model's own.  formats outlives
 * them. */
Weights *weights_make(const Model *model, const Formats *formats)
    __attribute__((warn_unused_result));

/* Those of layer l, from 0, which the model has now. */
void weights_enter(Weights *weights, const Model *model, size_t l);

void weights_clear(Weights *weights);

/* Scalars that weights_make would take at most, as a double. */
double weights_count(const Model *model, const Formats *formats);

/* The weight w points at, any of the layer's, and behind it those that follow; NULL of NULL. */
const Scalar *weights_stored(const Weights *weights, const double *w);
const Scalar *weights_operand(const Weights *weights, const double *w);

#endif
