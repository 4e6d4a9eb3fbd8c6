/*
 * The insides of what points of one case share (private to the evaluation).
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_SHARED_H
#define HEADPROOF_HARNESS_EVALUATE_SHARED_H

#include "../table/checkpoint.h"
#include "evaluate.h"

/* original[arithmetic][form]: m(T) after every layer, [depth, n, content], or NULL where no point
 * asks. */
struct Shared {
    Pair pair;
    RefPlan *plan; /* NULL where every point has its own */
    bool beside;   /* plans of differences are measured beside them */
    RefBase *base;
    RefLimit limit; /* what the base keeps */
    double *original[ARITHMETIC_COUNT][KERNEL_COUNT];
    Checkpoints *checkpoints; /* NULL: none are made */
};

/* m(T) in the point's arithmetic and form, [depth, n, content]; NULL where it was not made. */
const double *shared_original(const Shared *shared, const Point *point);

/* Threads for a point's kernels: all that may be started here, or 1 for a small model. */
size_t shared_kernel_threads(const Point *point);

/* The point's working precision: as it says, or as planned; before there is a plan (NULL), what
 * differences are tried at. */
/* r(T), and of r(T_infinity) what is asked for, certified where the point is. */
RefBase *shared_base(const Pair *pair, const Point *point, mpfr_prec_t bits, RefLimit limit,
                     const RefKeeper *keeper) __attribute__((warn_unused_result));

mpfr_prec_t shared_bits(const RefPlan *plan, const Point *point);

#endif
