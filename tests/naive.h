/*
 * The definition of a model, evaluated by loops in long double: full Q and V of every head,
 * softmax_rows(X' Q X'^T) X' V, no structure and no BLAS.  An original's biases ride on a column
 * of ones that the stream has here, after all others.  Beside every result, a bound on
 * what double precision may do to it, in units of u = 2^-53.
 */
#ifndef HEADPROOF_TESTS_NAIVE_H
#define HEADPROOF_TESTS_NAIVE_H

#include "../cases/model.h"

#define NAIVE_ROWS 16
#define NAIVE_WIDTH 40

/* Entry [r][c] and, when it is a result, its bound. */
typedef struct {
    long double value[NAIVE_ROWS][NAIVE_WIDTH], bound[NAIVE_ROWS][NAIVE_WIDTH];
} NaiveMatrix;

/* The stream before any layer, from the rows of tokens and the bias row's content (NULL: zeros). */
void naive_start(NaiveMatrix *x, const Layout *layout, const double *tokens, const double *bias);

/* Weights of one head on the stream x (one-hot block or constant column included, D' columns in
 * all).  The bound is, to first order,
 *   p_ij (2 (2 D' + d_head + 9) A_i + N' + 8),   A_i = max_j |x_i| |Q| |x_j|^T:
 * scores lose (2 D' + d_head + 7) u A_i in their products and scales, u A_i in the shift by the
 * maximum; exp, the sum and the quotient the rest.  Below 2^-1022 a rounding loses u 2^-1022:
 * 4 of those. */
void naive_pattern(NaiveMatrix *pattern, const NaiveMatrix *x, const Layout *layout,
                   const Bundle *bundle, size_t head, double omega);

/* The stream after a sublayer.  A head's bound, to first order, with B = |X'| |V|:
 *   sum_j (bound of p_ij + p_ij (D' + N' + d_head + 9)) B_jc + N' max_(j != i) p_ij B_ic,
 * the last for the sum over the other tokens as total minus own; D' + N' + d_head + 9 times
 * 2^-1022 as above; then heads + 2 for each addition to the stream. */
void naive_sublayer(NaiveMatrix *result, const NaiveMatrix *x, const Layout *layout,
                    const Sublayer *sublayer, double omega);

/* A direct operation, in place on row y [NAIVE_WIDTH], its bound into bound. */
void naive_direct_row(long double *y, long double *bound, const Direct *direct);

#endif
