/*
 * Real numbers by value, for formulas that should read as formulas: MPFR at one precision,
 * correctly rounded, with the exponent range of the calling thread.  A result that is not a
 * finite number fails the test.
 */
#ifndef HEADPROOF_TESTS_REAL_H
#define HEADPROOF_TESTS_REAL_H

#include <mpfr.h>
#include <stddef.h>

#define REAL_BITS 320

/* What mpfr_custom_init_set needs; copies are values. */
typedef struct {
    int kind;
    mpfr_exp_t exponent;
    mp_limb_t limb[REAL_BITS / GMP_NUMB_BITS];
} Real;

Real real_of(double x);
Real real_of_mpfr(mpfr_srcptr x);
void real_to_mpfr(mpfr_ptr x, Real a);

/* a - b, rounded once. */
Real real_difference(mpfr_srcptr a, mpfr_srcptr b);

Real real_add(Real a, Real b);
Real real_sub(Real a, Real b);
Real real_mul(Real a, Real b);
Real real_div(Real a, Real b);

Real real_neg(Real a);
Real real_abs(Real a);
Real real_exp(Real a);
Real real_log(Real a);
Real real_sqrt(Real a);
Real real_max(Real a, Real b);

/* 1 / (1 + e^(-a)) */
Real real_sigma(Real a);

/* 2^exponent */
Real real_power(mpfr_exp_t exponent);

double real_double(Real a);

/* count zeros; ends the program where memory is short.  Free them. */
Real *real_zeros(size_t count);

/* *sum += term */
void real_accumulate(Real *sum, Real term);

/* Less than, equal to or greater than 0 as a is than b. */
int real_compare(Real a, Real b);

#endif
