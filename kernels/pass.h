/*
 * One sublayer's evaluation, and what all forms of it share: scratch memory, broken promises, a
 * number of a model as the machine has it.
 */
#ifndef HEADPROOF_KERNELS_PASS_H
#define HEADPROOF_KERNELS_PASS_H

#include "../cases/model.h"
#include "machine_weights.h"

/* A broken promise between modules: says which, where, and aborts. */
#define KERNEL_CHECK(promise) ((promise) ? (void)0 : kernel_bug(__FILE__, __LINE__, #promise))

_Noreturn void kernel_bug(const char *file, int line, const char *promise);

/* Hands out parts of one buffer of Scalars; with next == NULL it only counts, so that the
 * code that uses scratch is also the code that says how much (a double: no overflow). */
typedef struct {
    Scalar *next;
    double taken;
} Scratch;

/* [rows, columns] Scalars, uninitialised, at a multiple of 64 bytes; NULL while counting. */
Scalar *scratch_take(Scratch *scratch, double rows, double columns);

/* One sublayer's evaluation: reads stream, adds to sum. */
typedef struct {
    const Layout *layout;
    const Formats *formats;
    const Weights *weights;
    double omega;
    const Scalar *stream; /* [rows, ld], as products read it */
    Scalar *sum;          /* [rows, ld] */
    size_t ld;
    size_t threads;  /* to be used, at least 1 */
    Scalar *scratch; /* as many Scalars as ..._scratch says for that many */
} Pass;

/* The scale as a machine has it: num / (den sqrt(sqrt_den)) with three roundings in double, and one
 * to a Scalar. */
Scalar scale_value(Scale scale);

/* coefficient * Omega, an entry of what a product reads: one rounding of it. */
static inline Scalar position_value(const Pass *pass, int coefficient)
{
    return scalar_of(pass->formats->operand, coefficient * pass->omega);
}

/* Matrices of heads, as HeadWeight. */
typedef struct {
    const Scalar *data;
    size_t ld, head_stride;
} Weight;

/* The model's weight as products read it: rounded to the format of operands. */
static inline Weight weight_operand(const Pass *pass, HeadWeight weight)
{
    return (Weight){weights_operand(pass->weights, weight.data), weight.ld, weight.head_stride};
}

/* And what is stored. */
static inline Weight weight_stored(const Pass *pass, HeadWeight weight)
{
    return (Weight){weights_stored(pass->weights, weight.data), weight.ld, weight.head_stride};
}

/* Weight of head h as a single head's. */
static inline Weight head_weight(Weight weight, size_t h)
{
    return (Weight){weight.data + h * weight.head_stride, weight.ld, 0};
}

#endif
