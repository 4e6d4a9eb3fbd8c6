/*
 * Entries of C, rounded once each; and the plain loop (private to reference/product/).
 */
#ifndef HEADPROOF_REFERENCE_PRODUCT_STORE_H
#define HEADPROOF_REFERENCE_PRODUCT_STORE_H

#include "guard.h"

/* A thread's exponent range. */
typedef struct {
    mpfr_exp_t emin, emax;
} Range;

Range store_range(void);

/* y = (-1)^negative limbs 2^unit, rounded to nearest, ties to even; limb[count - 1] > 0, and the
 * result is within MPFR's exponent range (not checked; no flag is set). */
void store_limbs(mpfr_ptr y, const mp_limb_t *limb, size_t count, bool negative, mpfr_exp_t unit);

/* (-1)^negative limbs 2^unit, the limbs to be overwritten; count 0: zero. */
typedef struct {
    mp_limb_t *limb;
    size_t count;
    bool negative;
    mpfr_exp_t unit;
} ScaledInteger;

/* C_ij (+)= the number. */
void store_scaled(Range range, const Plan *plan, size_t i, size_t j, ScaledInteger number);

/* The same times 2^(exponents of the row and the column).  An entry that the plan leaves to the
 * loop is computed by it instead. */
void store_integer(Range range, const Plan *plan, size_t i, size_t j, ScaledInteger number);

mpfr_ptr plan_entry(const Plan *plan, size_t i, size_t j);

/* C_ij = (-1)^negative 0.limbs 2^exponent 2^(exponents of the row and the column), the limbs being
 * in it, rounded.  False, and not done, where the plan leaves the entry to the loop, a line is
 * zero, or the exponent near an end of MPFR's range. */
bool store_rounded(Range range, const Plan *plan, size_t i, size_t j, mpfr_exp_t exponent,
                   bool negative) __attribute__((warn_unused_result));

/* Calls work for blocks of so many lines, rows or columns of C, on up to plan->threads threads,
 * each with the caller's exponent range. */
typedef void LineWork(const Plan *plan, const void *shared, size_t first, size_t count);
void store_each(const Plan *plan, const void *shared, size_t lines, size_t at_once, LineWork *work);

/* The whole product by mpfr_fma, entry by entry; products with a zero are skipped. */
void loop_mul(const Plan *plan);

#endif
