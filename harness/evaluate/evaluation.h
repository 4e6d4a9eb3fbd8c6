/*
 * One evaluation in progress (private to the files that evaluate a point).
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_EVALUATION_H
#define HEADPROOF_HARNESS_EVALUATE_EVALUATION_H

#include "../../reference/compare/propagation.h"
#include "shared.h"

/* One evaluation in progress: r(T') and m(T') side by side. */
typedef struct {
    const Shared *shared;
    const Point *point;
    const RefBase *base;
    RefRun *run;                 /* NULL where no judged error needs r(T') */
    RefPropagation *propagation; /* NULL where it is not asked for */
    const ArithmeticInfo *machine;
    Kernel *kernel; /* NULL without an arithmetic */
    mpfr_prec_t bits;
    MachineView converted, original; /* after the layer evaluated last */
} Evaluation;

/* The precision for a point, and the base of those that there are. */
void evaluation_begin(Evaluation *evaluation);

/* Is the base to be the point's own?  That of a group has the most bits that its points are known
 * to take beforehand.  A point of more lacks some; and radii are smaller with more, and with them
 * bounds: what is proven is to depend on the point alone. */
bool evaluation_needs_base(const Evaluation *evaluation);

/* A base of the point's own at the evaluation's bits.  NULL when a layer cannot be had. */
RefBase *evaluation_own_base(const Evaluation *evaluation) __attribute__((warn_unused_result));

/* Opens r(T'), where reference, and m(T'), where the point has an arithmetic. */
void evaluation_open(Evaluation *evaluation, bool reference);
void evaluation_close(Evaluation *evaluation);

/* Evaluates one layer (from 1) and fills in errors (and identical).  false: it cannot be had. */
bool evaluation_layer(Evaluation *evaluation, size_t layer, Row *row)
    __attribute__((warn_unused_result));

#endif
