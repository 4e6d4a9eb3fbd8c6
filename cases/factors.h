/*
 * The matrices of a head as four factors of plain doubles (private to cases/).
 *
 * With Omega a number, the Q and the V of a head (docs/mathematics.md, section 1) are written as
 * sums of terms left right^T, left and right vectors over the D' columns of the stream.  Column k
 * of W_Q and of W_K, or column k of W_V and row k of W_O, are term k.  No entry is rounded: where
 * a product of two numbers is not a double, what its rounding loses is a term of its own.
 */
#ifndef HEADPROOF_CASES_FACTORS_H
#define HEADPROOF_CASES_FACTORS_H

#include "model.h"

/* Entry of stream column c in term k: data[c * column + k * term].  data == NULL: not wanted. */
typedef struct {
    double *data;
    size_t column, term;
} Factor;

/* A matrix left right^T being filled; or, both data NULL, a count of its terms. */
typedef struct {
    const Layout *layout; /* with a bias row */
    Factor left, right;   /* zeros at first, with room for all terms */
    size_t terms;         /* so far */
    const char *inexact;  /* NULL, or why left right^T is not the matrix exactly */
    bool overflow;        /* an entry is larger than a double can be */
} Factors;

/* left right^T = Q of the head, scale, biases and Omega included. */
void factors_score(Factors *factors, const Score *score, double omega, size_t head);

/* left right^T = V of the head, scale, biases and diagonal included. */
void factors_value(Factors *factors, const Value *value, size_t head);

#endif
