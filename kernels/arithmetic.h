/*
 * Machine arithmetics: what each one is, and how it evaluates a model.
 *
 * An arithmetic is a row of the table in arithmetic.c and the file that its functions are in.
 * Whoever evaluates, judges or predicts asks the row, and knows no format by name.  Streams are
 * seen as doubles, which hold every number of every format here exactly.
 */
#ifndef HEADPROOF_KERNELS_ARITHMETIC_H
#define HEADPROOF_KERNELS_ARITHMETIC_H

#include "kernel.h"

typedef enum { ARITHMETIC_NONE, ARITHMETIC_F64, ARITHMETIC_COUNT } Arithmetic;

typedef struct {
    const char *called; /* in a sentence: "evaluated in ..." */

    /* The format. */
    int digits;               /* significand bits: the unit roundoff is 2^-digits */
    int least_exponent;       /* the smallest normal number is 2^(least_exponent - 1) */
    double smallest, largest; /* normal numbers */

    /* Seconds a multiply-add of a large product, and an exponential, on one core: a guess, for
     * predictions. */
    double multiply_add, exponential;

    /* An evaluation: as the functions of the same names in kernel.h. */
    Kernel *(*open)(const Model *model, const double *x, const double *bias_row_content,
                    double omega, KernelForm form, size_t threads);
    KernelStream (*layer)(Kernel *kernel);
    double *(*state)(Kernel *kernel, size_t *count);
    void (*go_on)(Kernel *kernel, size_t layers);
    void (*clear)(Kernel *kernel); /* NULL is fine */
    double (*bytes)(const Model *model, KernelForm form, size_t threads);
} ArithmeticInfo;

/* ARITHMETIC_NONE < arithmetic < ARITHMETIC_COUNT. */
const ArithmeticInfo *arithmetic_info(Arithmetic arithmetic);

/* The arithmetic of that name; ARITHMETIC_COUNT when there is none. */
Arithmetic arithmetic_find(const char *name);

/* As users write them. */
extern const char *const arithmetic_names[ARITHMETIC_COUNT];

#endif
