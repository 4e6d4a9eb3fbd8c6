/*
 * Logits and predictions: the last token's row of the last layer, times the unembedding.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_LOGITS_H
#define HEADPROOF_HARNESS_EVALUATE_LOGITS_H

#include "ensemble.h"
#include "../models/inputs.h"

#include <pthread.h>

/* What the machine makes of the logits at one Omega. */
typedef struct {
    double error;   /* largest |m - r|, NaN if one is */
    size_t changed; /* inputs whose largest logit is another one */
} LogitErrors;

/* The logits of r(T), and what it predicts: of the first inputs kept, of the others worked out
 * whenever they are compared. */
typedef struct {
    size_t kept, classes, d;
    const double *w_u, *b_u; /* [d, classes], [classes] or NULL: the model's */
    mpfr_t *value;           /* [kept, classes], right to far more than a double */
    size_t *predicted;       /* [kept] the class of the largest logit, once it is known */
    double margin;           /* the smallest lead of a largest logit, over inputs compared so far */
    LogitErrors errors;      /* of inputs compared, until they are set to zero */
    pthread_mutex_t lock;    /* of margin and errors */
} Logits;

/* Bytes that logits of so many kept inputs take, as a double. */
double logits_bytes(size_t inputs, size_t classes);

/* false: memory is short; clear it all the same. */
bool logits_init(Logits *logits, size_t kept, const ModelFile *model)
    __attribute__((warn_unused_result));
void logits_clear(Logits *logits);

/* Compares m(T') W_U + b_U in double, of input i at its point, into errors.  May be called from
 * several threads at once.  false: memory is short. */
bool logits_compare(Logits *logits, size_t i, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* The same of all inputs at one Omega.  false: memory is short. */
bool logits_compare_all(LogitErrors *errors, Logits *logits, Ensemble *ensemble, double omega)
    __attribute__((warn_unused_result));

#endif
