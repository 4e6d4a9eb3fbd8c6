/*
 * What a machine keeps its numbers in: the four properties that make an arithmetic
 * (docs/arithmetics.md names every rounding).  Products, sums and exponentials are those of the
 * type a kernel computes with, double or float.
 */
#ifndef HEADPROOF_KERNELS_FORMATS_H
#define HEADPROOF_KERNELS_FORMATS_H

#include "format.h"

typedef struct {
    NumberFormat storage; /* weights, Omega's coefficients and X */
    NumberFormat stream;  /* the residual stream, and what is about to be added to it */
    NumberFormat operand; /* what a product reads */
    NumberFormat score;   /* scores, up to the softmax */
} Formats;

#endif
