/*
 * One sublayer's evaluation, and what all forms of it share: scratch memory, broken promises, a
 * number of a model as the machine has it.
 */
#ifndef HEADPROOF_KERNELS_PASS_H
#define HEADPROOF_KERNELS_PASS_H

#include "../cases/model.h"

/* A broken promise between modules: says which, where, and aborts. */
#define KERNEL_CHECK(promise) ((promise) ? (void)0 : kernel_bug(__FILE__, __LINE__, #promise))

_Noreturn void kernel_bug(const char *file, int line, const char *promise);

/* Hands out parts of one buffer of doubles; with next == NULL it only counts, so that the
 * code that uses scratch is also the code that says how much (a double: no overflow). */
typedef struct {
    double *next;
    double taken;
} Scratch;

/* [rows, columns] doubles, uninitialised, at a multiple of 64 bytes; NULL while counting. */
double *scratch_take(Scratch *scratch, double rows, double columns);

/* One sublayer's evaluation: reads stream, adds to sum. */
typedef struct {
    const Layout *layout;
    double omega;
    const double *stream; /* [rows, ld] */
    double *sum;          /* [rows, ld] */
    size_t ld;
    size_t threads;  /* to be used, at least 1 */
    double *scratch; /* as many doubles as ..._scratch says for that many */
} Pass;

/* The scale as a machine has it: num / (den sqrt(sqrt_den)) with three roundings. */
double scale_value(Scale scale);

/* Weight of head h as a single head's. */
static inline HeadWeight head_weight(HeadWeight weight, size_t h)
{
    return (HeadWeight){weight.data + h * weight.head_stride, weight.ld, 0};
}

#endif
