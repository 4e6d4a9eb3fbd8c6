/*
 * A bundle of heads by its definition (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_DENSE_H
#define HEADPROOF_REFERENCE_RUN_DENSE_H

#include "../heads/heads.h"

enum { DENSE_TEMPS = 2 };

/* Full matrices of one head; width is the stream's. */
typedef struct {
    ApMat q, v;    /* [width, width] */
    ApMat xq, px;  /* [rows, width] */
    ApMat pattern; /* [rows, rows] */
    ApMat temp;    /* [1, DENSE_TEMPS] */
    ApMat high;    /* [1, rows + a few] a row's scores; q, xq and high have the bits they take */
    ApExp *exp;
    bool *in; /* [rows] the keys that a row's softmax is over */
} Dense;

/* Columns of the dense form's stream: the layout's, and for an original one constant column of
 * ones, which its biases ride on. */
size_t dense_width(const Layout *layout);

void dense_init(Dense *dense, const Layout *layout, mpfr_prec_t bits);
void dense_clear(Dense *dense);
double dense_bytes(const Layout *layout, mpfr_prec_t bits);

/* delta += sum of softmax_rows(X Q X^T) X V over the heads, at the evaluator's Omega, or in the
 * limit. */
void dense_add(const Heads *heads, const ApMat *x, Dense *dense, ApMat *delta);

#endif
