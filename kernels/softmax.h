/*
 * softmax of a row in double precision.
 */
#ifndef HEADPROOF_KERNELS_SOFTMAX_H
#define HEADPROOF_KERNELS_SOFTMAX_H

#include <math.h>
#include <stddef.h>

/* Weights of the first visible keys of row [length] from their scores, 0 for the rest; and of one
 * key more, *bias (or NULL), entered last.  Returns the weight on the keys of row. */
double softmax_row(double *row, size_t visible, size_t length, double *bias);

/* exp(x) for a score less its row's maximum: the same bits, faster at the two values that are
 * most of what heads ask for.  exp rounds to 0 below -745.14. */
static inline double exp_shifted(double x)
{
    if (x == 0) {
        return 1;
    }
    return x < -746 ? 0 : exp(x);
}

#endif
