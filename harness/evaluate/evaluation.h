/*
 * One evaluation in progress (private to the files that evaluate a point).
 *
 * Umbrella header: for precision.c, one precision after another, too.
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

/* The outcome of rows at one precision.  passed: every row; lacking: the bits that cells without a
 * proof want more; wanted: those that a judged error wants more. */
typedef struct {
    bool passed;
    double lacking, wanted;
} RowsFound;

/* Bits more that a row's cells lack, as many as there are where that is not known. */
double precision_proof_lacking(const Evaluation *evaluation, const Row *row);

/* The same of what is worked out from them, too. */
double precision_lacking(const Evaluation *evaluation, const Row *row);

/* Bits more at which a judged error that is only a bound comes within the tolerance, as a bound
 * falls by half for every bit; 0 where it is none or within, and where no precision helps. */
double precision_wanted(const Evaluation *evaluation, const RefCell *cell);

/* The bits to try next, after so many raises: at least 64 more for what is asked.  false: none are,
 * or none may be had.  Each raise is by all that is known to lack, or to twice the bits where that
 * is not known; but what lies on the point where its digits change may never come out, so there are
 * three at most, and none where nothing is known of r(T), which has had its own. */
bool precision_next(mpfr_prec_t *next, const Evaluation *evaluation, const RowsFound *found,
                    int raises);

/* Looks at a row whose layer was just evaluated, and adds to what is found.  false: no other layer
 * is wanted. */
typedef bool TakeRow(void *context, RowsFound *found, const Evaluation *evaluation, Row *row);

/* Evaluates the rows, and once more from the first layer on whenever precision_next says so;
 * *found: of the last time. */
EvaluateStatus precision_rows(RowsFound *found, Evaluation *evaluation, TakeRow *take,
                              void *context) __attribute__((warn_unused_result));

#endif
