/*
 * Logits and predictions: the last token's row of the last layer, times the unembedding.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_LOGITS_H
#define HEADPROOF_HARNESS_EVALUATE_LOGITS_H

#include "ensemble.h"
#include "../models/inputs.h"

/* What the machine makes of the logits at one Omega. */
typedef struct {
    double error;   /* largest |m - r|, NaN if one is */
    size_t changed; /* inputs whose largest logit is another one */
} LogitErrors;

/* The logits of r(T), and what it predicts. */
typedef struct {
    size_t inputs, classes, d;
    const double *w_u, *b_u; /* [d, classes], [classes] or NULL: the model's */
    mpfr_t *value;           /* [inputs, classes], right to far more than a double */
    size_t *predicted;       /* [inputs] the class of the largest logit */
    double *lead;            /* [inputs] by which it leads the second */
    double margin;           /* the smallest lead */
    LogitErrors *own;        /* [inputs] of the last comparison */
} Logits;

/* Bytes that logits_make takes, as a double. */
double logits_bytes(size_t inputs, size_t classes);

/* From the ensemble's base trajectories; members in the order of the inputs.  false: memory is
 * short. */
bool logits_make(Logits *logits, Ensemble *ensemble, const ModelFile *model)
    __attribute__((warn_unused_result));

void logits_clear(Logits *logits);

/* Compares m(T') W_U + b_U in double at this Omega.  false: memory is short. */
bool logits_compare(LogitErrors *errors, Logits *logits, Ensemble *ensemble, double omega)
    __attribute__((warn_unused_result));

#endif
