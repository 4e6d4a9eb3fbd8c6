/*
 * The matrices of a head as a user's program has them: Q and V on the augmented stream.
 */
#ifndef HEADPROOF_KERNELS_MATRICES_H
#define HEADPROOF_KERNELS_MATRICES_H

#include "pass.h"

/* Q [D', D'] and V [D', D'] of one head into q and v, whose entries are zero (q is fresh) or those
 * of another head of the same bundle, which differs in the same entries.
 * Biases ride on the tokens' position rows and columns; a layout without them must not have any.
 * Rounding points: scale * Q_c once an entry or W_Q W_K^T in gemm times scale, and so b_Q W_K^T,
 * W_Q b_K^T and b_Q b_K^T; gate_scale * g, gate_scale * gate bias and the sum of that and the
 * gate's shift; c * Omega, and its sum with what the biases and shifts add; W_V W_O in gemm times
 * scale; inner_bias W_O in gemm times scale, then + bias; W + diagonal.  Whoever calls rounds the
 * entries to what products read. */
void matrices_fill_q(Scalar *q, size_t ld, const Pass *pass, const Score *score, size_t head,
                     bool fresh);
void matrices_fill_v(Scalar *v, size_t ld, const Pass *pass, const Bundle *bundle, size_t head);

#endif
