/*
 * The forms of a bundle, with full matrices, dense.c, and by what heads are known to consist of,
 * structured.c:  softmax_rows(X' Q X'^T) X' V of every head.
 *
 * Umbrella header: for both, and for matrices.c: a head's Q and V as a user's program has them.
 */
#ifndef HEADPROOF_KERNELS_DENSE_H
#define HEADPROOF_KERNELS_DENSE_H

#include "gemm.h"
#include "pass.h"

/* Scalars of scratch that the two below need, for so many threads (dense_pattern: one). */
double dense_scratch(const Layout *layout, const Bundle *bundle, size_t threads);

/* sum += what the bundle's heads write. */
void dense_bundle(const Pass *pass, const Bundle *bundle);

/* Weights of one head; pattern [rows, rows], rows in the stream's order. */
void dense_pattern(const Pass *pass, Scalar *pattern, const Bundle *bundle, size_t head);

/* Q [D', D'] and V [D', D'] of one head into q and v, whose entries are zero (q is fresh) or those
 * of another head of the same bundle, which differs in the same entries.
 * Biases ride on the tokens' position rows and columns; a layout without them must not have any.
 * Rounding points: scale * Q_c once an entry or W_Q W_K^T in gemm times scale, and so b_Q W_K^T,
 * W_Q b_K^T and b_Q b_K^T; gate_scale * g, gate_scale * gate bias and the sum of that and the
 * gate's shift; c * Omega, and its sum with what the biases and shifts add; W_V W_O in gemm times
 * scale; inner_bias W_O in gemm times scale, then + bias; W + diagonal.  The caller rounds the
 * entries to what products read. */
void matrices_fill_q(GemmMatrix q, const Pass *pass, const Score *score, size_t head, bool fresh);
void matrices_fill_v(GemmMatrix v, const Pass *pass, const Bundle *bundle, size_t head);

/* The same by the structure: content scores without position columns, factors kept as factors; a
 * row is attended to as what it is, a token or the bias row.
 * Scalars of scratch that the two below need, for so many threads (structured_pattern: one). */
double structured_scratch(const Layout *layout, const Bundle *bundle, size_t threads);

/* sum += what the bundle's heads write. */
void structured_bundle(const Pass *pass, const Bundle *bundle);

/* Weights of one head; pattern [rows, rows], rows in the stream's order. */
void structured_pattern(const Pass *pass, Scalar *pattern, const Bundle *bundle, size_t head);

#endif
