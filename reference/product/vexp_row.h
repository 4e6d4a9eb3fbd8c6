/*
 * Eight neighbours' exponentials, in vectors from memory to memory (private to vexp.c).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_VEXP_ROW_H
#define HEADPROOF_REFERENCE_PRODUCT_VEXP_ROW_H

#include "vexp_lanes.h"

#include <mpfr.h>
#include <stdbool.h>

/* Are `count` numbers few whole limbs, one behind the other, and tables for so many built? */
bool vexp_is_row(const ExpTables *tables, mpfr_srcptr y, mpfr_srcptr x, size_t count);

/* y[i] = exp(x[i]), i < 8, of such numbers, as vexp_lanes makes it; y may be x.  False, and nothing
 * done: an argument is neither 0 nor a number below 2^20. */
bool vexp_row(const ExpTables *tables, mpfr_ptr y, mpfr_srcptr x)
    __attribute__((warn_unused_result));

#endif
