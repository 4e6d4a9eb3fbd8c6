/*
 * Machine arithmetics, and the number formats that they are made of.
 *
 * An arithmetic is a row of the table in arithmetic.c: the formats of its numbers, and the
 * functions that evaluate in them.  Evaluation, verdict and prediction ask the row; none of them
 * knows a format by name.  docs/findings.md lists every rounding.
 *
 * Rounding to a format is to nearest, ties to even, with subnormal numbers, and to infinity beyond
 * the largest number.  A NaN stays one.
 */
#ifndef HEADPROOF_KERNELS_ARITHMETIC_H
#define HEADPROOF_KERNELS_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    FORMAT_F64,
    FORMAT_F32,
    FORMAT_TF32,
    FORMAT_BF16,
    FORMAT_FP16,
    NUMBER_FORMATS
} NumberFormat;

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

/* to [count]: the numbers of the format, which floats hold, nearest to those of from. */
void format_store(NumberFormat format, const double *from, float *to, size_t count);

/* x [count], each rounded to the format; floats are numbers of FORMAT_F64 and FORMAT_F32 as they
 * are. */
void format_round(NumberFormat format, float *x, size_t count);

/* The formats that a machine keeps its numbers in: the four properties that make an arithmetic
 * (docs/findings.md names every rounding).  Products, sums and exponentials are those of the
 * type a kernel computes with, double or float. */
typedef struct {
    NumberFormat storage; /* weights, Omega's coefficients and X */
    NumberFormat stream;  /* the residual stream, and what is about to be added to it */
    NumberFormat operand; /* what a product reads */
    NumberFormat score;   /* scores, up to the softmax */
} Formats;

typedef enum {
    ARITHMETIC_NONE,
    ARITHMETIC_F64,
    ARITHMETIC_F32,
    ARITHMETIC_BF16,
    ARITHMETIC_FP16,
    ARITHMETIC_BF16_FLASH,
    ARITHMETIC_FP16_FLASH,
    ARITHMETIC_BF16_AUTOCAST,
    ARITHMETIC_TF32,
    ARITHMETIC_COUNT
} Arithmetic;

typedef struct {
    const char *called; /* in a sentence: "evaluated in ..." */
    Formats formats;
    const struct KernelFunctions *functions; /* in double, or in float: kernel.h */

    /* Seconds a multiply-add of a large product, and an exponential, on one core: a guess, for
     * predictions. */
    double multiply_add, exponential;
} ArithmeticInfo;

/* The format of the numbers of m(T) and m(T'): its unit roundoff, range and ulps are the
 * arithmetic's. */
static inline const FormatInfo *arithmetic_format(const ArithmeticInfo *info)
{
    return format_info(info->formats.storage);
}

/* ARITHMETIC_NONE < arithmetic < ARITHMETIC_COUNT. */
const ArithmeticInfo *arithmetic_info(Arithmetic arithmetic);

/* As users write them. */
extern const char *const arithmetic_names[ARITHMETIC_COUNT];

#endif
