#include "real.h"

#include <stdio.h>
#include <stdlib.h>

_Static_assert(REAL_BITS % GMP_NUMB_BITS == 0, "a significand is whole limbs");

typedef int Unary(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
typedef int Binary(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/* x = a, over a's own limbs: a must stay where it is while x is used. */
static void view(mpfr_ptr x, Real *a)
{
    mpfr_custom_init_set(x, a->kind, a->exponent, REAL_BITS, a->limb);
}

static Real zero(void)
{
    return (Real){.kind = MPFR_ZERO_KIND};
}

/* What was computed into x, a view of *a. */
static Real result(mpfr_ptr x, Real *a)
{
    a->kind = mpfr_custom_get_kind(x);
    a->exponent = mpfr_regular_p(x) ? mpfr_custom_get_exp(x) : 0;
    return *a;
}

static Real unary(Unary *operation, Real a)
{
    Real r = zero();
    mpfr_t x, y;
    view(x, &a);
    view(y, &r);
    operation(y, x, MPFR_RNDN);
    return result(y, &r);
}

static Real binary(Binary *operation, Real a, Real b)
{
    Real r = zero();
    mpfr_t x, y, z;
    view(x, &a);
    view(y, &b);
    view(z, &r);
    operation(z, x, y, MPFR_RNDN);
    return result(z, &r);
}

Real real_of(double x)
{
    Real r = zero();
    mpfr_t y;
    view(y, &r);
    mpfr_set_d(y, x, MPFR_RNDN);
    return result(y, &r);
}

Real real_of_mpfr(mpfr_srcptr x)
{
    Real r = zero();
    mpfr_t y;
    view(y, &r);
    mpfr_set(y, x, MPFR_RNDN);
    return result(y, &r);
}

Real real_of_text(const char *decimal)
{
    Real r = zero();
    mpfr_t y;
    view(y, &r);
    if (mpfr_set_str(y, decimal, 10, MPFR_RNDN) != 0) {
        fprintf(stderr, "not a number: %s\n", decimal);
        abort();
    }
    return result(y, &r);
}

Real real_difference(mpfr_srcptr a, mpfr_srcptr b)
{
    Real r = zero();
    mpfr_t y;
    view(y, &r);
    mpfr_sub(y, a, b, MPFR_RNDN);
    return result(y, &r);
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
    mpfr_t y;
    view(y, &r);
    mpfr_set_ui_2exp(y, 1, exponent, MPFR_RNDN);
    return result(y, &r);
}

double real_double(Real a)
{
    mpfr_t x;
    view(x, &a);
    return mpfr_get_d(x, MPFR_RNDN);
}

int real_compare(Real a, Real b)
{
    mpfr_t x, y;
    view(x, &a);
    view(y, &b);
    return mpfr_cmp(x, y);
}
