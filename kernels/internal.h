/*
 * What the files of this directory share.
 */
#ifndef HEADPROOF_KERNELS_INTERNAL_H
#define HEADPROOF_KERNELS_INTERNAL_H

#include "../cases/model.h"

#include <math.h>

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

/* Doubles of scratch; sum += the bundle's heads; and the weights of one head,
 * pattern [rows, rows], rows in the stream's order. */
double dense_scratch(const Layout *layout, const Bundle *bundle, size_t threads);
void dense_bundle(const Pass *pass, const Bundle *bundle);
void dense_pattern(const Pass *pass, double *pattern, const Bundle *bundle, size_t head);

double structured_scratch(const Layout *layout, const Bundle *bundle, size_t threads);
void structured_bundle(const Pass *pass, const Bundle *bundle);
void structured_pattern(const Pass *pass, double *pattern, const Bundle *bundle, size_t head);

/* A direct operation, in place on the stream [n, ld]. */
double direct_scratch(const Layout *layout, const Direct *direct);
void direct_apply(double *stream, const Pass *pass, const Direct *direct);

/* Weights of the first visible keys of row [length] from their scores, 0 for the rest; and of one
 * key more, *bias (or NULL), entered last.  Returns the weight on the keys of row. */
double softmax_row(double *row, size_t visible, size_t length, double *bias);

/* The scale as a machine has it: num / (den sqrt(sqrt_den)) with three roundings. */
double scale_value(Scale scale);

/* exp(x) for a score less its row's maximum: the same bits, faster at the two values that are
 * most of what heads ask for.  exp rounds to 0 below -745.14. */
static inline double exp_shifted(double x)
{
    if (x == 0) {
        return 1;
    }
    return x < -746 ? 0 : exp(x);
}

/* Weight of head h as a single head's. */
static inline HeadWeight head_weight(HeadWeight weight, size_t h)
{
    return (HeadWeight){weight.data + h * weight.head_stride, weight.ld, 0};
}

#endif
