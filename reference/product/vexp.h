/*
 * exp of a vector of MPFR numbers: eight at a time on AVX-512 IFMA, for precisions up to 1036 bits
 * and arguments below 2^20; by ap_exp otherwise.
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_VEXP_H
#define HEADPROOF_REFERENCE_PRODUCT_VEXP_H

#include "../numbers/ap.h"

/* Tables for one precision, which all threads share, and what a thread has of its own. */
typedef struct VectorExp VectorExp;

/* bits: the precision of results; alone, for as many, has to stay as long as this. */
VectorExp *vexp_create(mpfr_prec_t bits, ApExp *alone) __attribute__((warn_unused_result));
void vexp_free(VectorExp *context);

/* Is it done eight at a time? */
bool vexp_is_wide(const VectorExp *context);

/* y[i] = exp(x[i]), i < count, |relative error| <= 2^(1 - bits); y has `bits` bits and may be x.
 * Results depend on x[i] alone, not on its neighbours. */
void vexp(VectorExp *context, mpfr_ptr y, mpfr_srcptr x, size_t count);

#endif
