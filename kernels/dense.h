/*
 * The matrices of a head as a user's program has them.
 */
#ifndef HEADPROOF_KERNELS_DENSE_H
#define HEADPROOF_KERNELS_DENSE_H

#include "internal.h"

/* Q [D', D'] and V [D', D'] of one head into q and v, which the caller has set to zero.
 * Rounding points: scale * Q_c once an entry or W_Q W_K^T in dgemm times scale; c * Omega, and
 * its sum with a gate bias; W_V W_O in dgemm; inner_bias W_O in dgemm, then + bias; W + diagonal. */
void dense_fill_q(double *q, size_t ld, const Layout *layout, const Score *score, double omega,
                  size_t head);
void dense_fill_v(double *v, size_t ld, const Layout *layout, const Value *value, size_t head);

#endif
