/*
 * Lines of an operand measured eight entries at a time (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_OPERAND_EIGHT_H
#define HEADPROOF_REFERENCE_PRODUCT_OPERAND_EIGHT_H

#include "operand.h"

/* exponent, size and sum of at most 64 lines from `first` on, and low, the exponent of the lowest
 * bit set in each, or LONG_MAX.  False, to be done one by one: not on this CPU, not numbers of few
 * limbs side by side, or not plain. */
bool operand_measure_eights(Operand *o, mpfr_exp_t *low, size_t first, size_t lines)
    __attribute__((warn_unused_result));

#endif
