/*
 * Machine arithmetics: what each one is, and how it evaluates a model.
 *
 * An arithmetic is a row of the table in arithmetic.c: the formats of its numbers, and the
 * functions that evaluate in them.  Whoever evaluates, judges or predicts asks the row, and knows
 * no format by name.  docs/arithmetics.md lists every rounding.
 */
#ifndef HEADPROOF_KERNELS_ARITHMETIC_H
#define HEADPROOF_KERNELS_ARITHMETIC_H

#include "kernel.h"

typedef enum {
    ARITHMETIC_NONE,
    ARITHMETIC_F64,
    ARITHMETIC_F32,
    ARITHMETIC_BF16,
    ARITHMETIC_FP16,
    ARITHMETIC_BF16_FLASH,
    ARITHMETIC_FP16_FLASH,
    ARITHMETIC_BF16_AUTOCAST,
    ARITHMETIC_COUNT
} Arithmetic;

typedef struct {
    const char *called; /* in a sentence: "evaluated in ..." */
    Formats formats;
    const KernelFunctions *functions; /* in double, or in float */

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

/* Evaluates the model with kernel_open_in's arguments. */
static inline Kernel *arithmetic_open(const ArithmeticInfo *info, const Start *start,
                                      KernelForm form, size_t threads)
{
    return info->functions->open(&info->formats, start, form, threads);
}

/* ARITHMETIC_NONE < arithmetic < ARITHMETIC_COUNT. */
const ArithmeticInfo *arithmetic_info(Arithmetic arithmetic);

/* The arithmetic of that name; ARITHMETIC_COUNT when there is none. */
Arithmetic arithmetic_find(const char *name);

/* As users write them. */
extern const char *const arithmetic_names[ARITHMETIC_COUNT];

#endif
