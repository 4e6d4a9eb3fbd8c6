/*
 * Layer norms of the stream's rows (LayerNorm of cases/model.h).
 *
 * A row's mean and variance, their root and what follows are evaluated in Scalars, in two passes
 * and as PyTorch has it, (x - mean) rstd gamma + beta; the result is rounded to the stream's format
 * once.  A sum is of 16 parts, column c in part c mod 16.  Where the variance, or it and eps, is no
 * finite number the row is NaN.
 */
#ifndef HEADPROOF_KERNELS_NORM_H
#define HEADPROOF_KERNELS_NORM_H

#include "pass.h"

/* x [rows, ld] becomes its norm: on the norm's columns, on the rows it is for. */
void norm_rows(Scalar *x, const Pass *pass, const LayerNorm *norm);

/* See KernelFunctions. */
void kernel_norm(const Formats *formats, double *rows, size_t count, size_t ld,
                 const LayerNorm *norm);

#endif
