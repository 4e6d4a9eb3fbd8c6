/*
 * Number formats, and rounding to them: to nearest, ties to even, with subnormal numbers, and to
 * infinity beyond the largest number.  A NaN stays one.
 */
#ifndef HEADPROOF_KERNELS_FORMAT_H
#define HEADPROOF_KERNELS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { FORMAT_F64, FORMAT_F32, FORMAT_BF16, FORMAT_FP16, NUMBER_FORMATS } NumberFormat;

typedef struct {
    const char *called;       /* in a sentence */
    int digits;               /* significand bits: the unit roundoff is 2^-digits */
    int least_exponent;       /* the smallest normal number is 2^(least_exponent - 1) */
    double smallest, largest; /* normal numbers */
} FormatInfo;

/* format < NUMBER_FORMATS. */
const FormatInfo *format_info(NumberFormat format);

/* The number of the format that is nearest to x, from the double in one rounding. */
double format_nearest(NumberFormat format, double x);

/* x [count], each rounded to the format; floats are numbers of FORMAT_F64 and FORMAT_F32 as they
 * are. */
void format_round(NumberFormat format, float *x, size_t count);

/* The formats that a machine keeps its numbers in: the four properties that make an arithmetic
 * (docs/arithmetics.md names every rounding).  Products, sums and exponentials are those of the
 * type a kernel computes with, double or float. */
typedef struct {
    NumberFormat storage; /* weights, Omega's coefficients and X */
    NumberFormat stream;  /* the residual stream, and what is about to be added to it */
    NumberFormat operand; /* what a product reads */
    NumberFormat score;   /* scores, up to the softmax */
} Formats;

#endif
