/*
 * Real numbers by value, for formulas that should read as formulas.
 */
#include "real.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert(REAL_BITS % GMP_NUMB_BITS == 0, "a significand is whole limbs");

typedef int Unary(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int Binary(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* a as MPFR has it, over a's own limbs: a must stay where it is meanwhile. */
static __mpfr_struct view(Real *a)
{
    __mpfr_struct x = {0};
    mpfr_custom_init_set(&x, a->kind, a->exponent, REAL_BITS, a->limb);
    return x;
}

static Real zero(void)
{
    return (Real){.kind = MPFR_ZERO_KIND};
}

/* What was computed into x, a view of *a.  No maximum or comparison could see a NaN later. */
static Real result(mpfr_ptr x, Real *a)
{
    if (!mpfr_number_p(x)) {
        fail_msg("not a number, or infinite");
    }
    a->kind = mpfr_custom_get_kind(x);
    a->exponent = mpfr_regular_p(x) ? mpfr_custom_get_exp(x) : 0;
    return *a;
}

static Real unary(Unary *operation, Real a)
{
    Real r = zero();
    __mpfr_struct x = view(&a), y = view(&r);
    operation(&y, &x, MPFR_RNDN);
    return result(&y, &r);
}

static Real binary(Binary *operation, Real a, Real b)
{
    Real r = zero();
    __mpfr_struct x = view(&a), y = view(&b), z = view(&r);
    operation(&z, &x, &y, MPFR_RNDN);
    return result(&z, &r);
}

Real real_of(double x)
{
    Real r = zero();
    __mpfr_struct y = view(&r);
    mpfr_set_d(&y, x, MPFR_RNDN);
    return result(&y, &r);
}

Real real_of_mpfr(mpfr_srcptr x)
{
    Real r = zero();
    __mpfr_struct y = view(&r);
    mpfr_set(&y, x, MPFR_RNDN);
    return result(&y, &r);
}

void real_to_mpfr(mpfr_ptr x, Real a)
{
    __mpfr_struct from = view(&a);
    mpfr_set(x, &from, MPFR_RNDN);
}

Real real_difference(mpfr_srcptr a, mpfr_srcptr b)
{
    Real r = zero();
    __mpfr_struct y = view(&r);
    mpfr_sub(&y, a, b, MPFR_RNDN);
    return result(&y, &r);
}

Real real_add(Real a, Real b)
{
    return binary(mpfr_add, a, b);
}

Real real_sub(Real a, Real b)
{
    return binary(mpfr_sub, a, b);
}

Real real_mul(Real a, Real b)
{
    return binary(mpfr_mul, a, b);
}

Real real_div(Real a, Real b)
{
    return binary(mpfr_div, a, b);
}

Real real_neg(Real a)
{
    return real_sub(zero(), a);
}

Real real_abs(Real a)
{
    return real_compare(a, zero()) < 0 ? real_neg(a) : a;
}

Real real_exp(Real a)
{
    return unary(mpfr_exp, a);
}

Real real_log(Real a)
{
    return unary(mpfr_log, a);
}

Real real_sqrt(Real a)
{
    return unary(mpfr_sqrt, a);
}

Real real_max(Real a, Real b)
{
    return binary(mpfr_max, a, b);
}

Real real_sigma(Real a)
{
    Real one = real_of(1);
    return real_div(one, real_add(one, real_exp(real_neg(a))));
}

Real real_power(mpfr_exp_t exponent)
{
    Real r = zero();
    __mpfr_struct y = view(&r);
    mpfr_set_ui_2exp(&y, 1, exponent, MPFR_RNDN);
    return result(&y, &r);
}

double real_double(Real a)
{
    __mpfr_struct x = view(&a);
    return mpfr_get_d(&x, MPFR_RNDN);
}

int real_compare(Real a, Real b)
{
    __mpfr_struct x = view(&a), y = view(&b);
    return mpfr_cmp(&x, &y);
}

Real *real_zeros(size_t count)
{
    Real *numbers = calloc(count + 1, sizeof *numbers); /* never of size 0 */
    if (numbers == NULL) {
        fprintf(stderr, "memory is short\n");
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = real_of(0);
    }
    return numbers;
}

void real_accumulate(Real *sum, Real term)
{
    *sum = real_add(*sum, term);
}
