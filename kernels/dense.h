/*
 * The dense form of a bundle: softmax_rows(X' Q X'^T) X' V of every head, with full matrices.
 */
#ifndef HEADPROOF_KERNELS_DENSE_H
#define HEADPROOF_KERNELS_DENSE_H

#include "pass.h"

/* Scalars of scratch that the two below need, for so many threads (dense_pattern: one). */
double dense_scratch(const Layout *layout, const Bundle *bundle, size_t threads);

/* sum += what the bundle's heads write. */
void dense_bundle(const Pass *pass, const Bundle *bundle);

/* Weights of one head; pattern [rows, rows], rows in the stream's order. */
void dense_pattern(const Pass *pass, Scalar *pattern, const Bundle *bundle, size_t head);

#endif
