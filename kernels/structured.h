/*
 * The structured form of a bundle: content scores without position columns, factors kept as
 * factors; a row is attended to as what it is, a token or the bias row.
 */
#ifndef HEADPROOF_KERNELS_STRUCTURED_H
#define HEADPROOF_KERNELS_STRUCTURED_H

#include "pass.h"

/* Scalars of scratch that the two below need, for so many threads (structured_pattern: one). */
double structured_scratch(const Layout *layout, const Bundle *bundle, size_t threads);

/* sum += what the bundle's heads write. */
void structured_bundle(const Pass *pass, const Bundle *bundle);

/* Weights of one head; pattern [rows, rows], rows in the stream's order. */
void structured_pattern(const Pass *pass, Scalar *pattern, const Bundle *bundle, size_t head);

#endif
