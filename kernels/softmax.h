/*
 * softmax of a row.
 */
#ifndef HEADPROOF_KERNELS_SOFTMAX_H
#define HEADPROOF_KERNELS_SOFTMAX_H

#include "scalar.h"

#include <math.h>
#include <stddef.h>

/* Weights of the first visible keys of row [length] from their scores, 0 for the rest; and of one
 * key more, *bias (or NULL), entered last; all rounded to the format at the end.  Returns the
 * weight on the keys of row. */
Scalar softmax_row(Scalar *row, size_t visible, size_t length, Scalar *bias, NumberFormat format);

/* exp(x) for a score less its row's maximum: the same bits, faster at the two values that are
 * most of what heads ask for.  */
static inline Scalar exp_shifted(Scalar x)
{
    if (x == 0) {
        return 1;
    }
    return x < SCALAR_EXP_ZERO ? 0 : SCALAR_EXP(x);
}

#endif
