/*
 * Activation functions in arbitrary precision, and what bounds them (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_EVALUATOR_ACTIVATION_H
#define HEADPROOF_REFERENCE_EVALUATOR_ACTIVATION_H

#include "evaluator.h"

#include "../../cases/model.h"

/* x [count] = act(x), each within 10 roundings of |x|, or of sigma(x); e [count] is scratch.
 * |act(x)| <= |x|, or sigma(x) <= 1. */
void activation_row(Worker *worker, Activation activation, mpfr_ptr x, mpfr_ptr e, size_t count);

/* |act(a) - act(b)| <= slope |a - b| for all a, b.  Where at is not NULL it is act', evaluated in
 * double, and |act''| <= curvature. */
typedef struct {
    double slope, curvature;
    double (*at)(double z);
} ActivationSlope;

const ActivationSlope *activation_slope(Activation activation);

#endif
