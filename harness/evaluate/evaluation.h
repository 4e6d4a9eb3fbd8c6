/*
 * One evaluation in progress (private to the files that evaluate a point).
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_EVALUATION_H
#define HEADPROOF_HARNESS_EVALUATE_EVALUATION_H

#include "../../reference/compare/propagation.h"
#include "shared.h"

/* r(T') and m(T') side by side. */
typedef struct {
    const Shared *shared;
    const Point *point;
    bool reference;              /* r(T') is evaluated */
    Row *rows;                   /* [depth] */
    const RefBase *base;         /* NULL where nothing is compared with a reference */
    mpfr_prec_t bits;            /* of r(T') */
    RefRun *run;                 /* NULL without a reference, as the next */
    RefPropagation *propagation; /* NULL where it is not asked for */
    const ArithmeticInfo *machine;
    Kernel *kernel;                  /* NULL without an arithmetic */
    MachineView converted, original; /* after the layer evaluated last */
} Evaluation;

/* With the precision that the point begins with, and the base of those that there are. */
void evaluation_init(Evaluation *evaluation, const Shared *shared, const Point *point,
                     bool reference);
void evaluation_clear(Evaluation *evaluation);

/* Opens r(T'), where it is evaluated, and m(T'), where the point has an arithmetic. */
void evaluation_open(Evaluation *evaluation);
void evaluation_close(Evaluation *evaluation);

/* Evaluates one layer (from 1) into its row: errors (and identical).  false: it cannot be had. */
bool evaluation_layer(Evaluation *evaluation, size_t layer) __attribute__((warn_unused_result));

#endif
