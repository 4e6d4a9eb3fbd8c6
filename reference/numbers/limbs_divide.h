/*
 * Quotients of single numbers (private to reference/), as limbs.h has sums and products:
 *
 *     y = a / b     rounded once to nearest, ties to even, as mpfr_div(y, a, b, MPFR_RNDN).
 */
#ifndef HEADPROOF_REFERENCE_NUMBERS_LIMBS_DIVIDE_H
#define HEADPROOF_REFERENCE_NUMBERS_LIMBS_DIVIDE_H

#include <mpfr.h>

void limbs_div(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);

#endif
