/*
 * Numbers that are at least 0, rounded up.
 *
 * An operation on digits is a double's, off by at most half a unit in its last place; the next
 * double above is therefore at least the exact result.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_snprintf */

#include "magnitude.h"

#include <math.h>
#include <mpfr.h>

/* Below this exponent a number is as good as this small: no exponent is ever out of range. */
#define EXPONENT_LEAST (-(1L << 61))

/* Bits of what MPFR computes. */
enum { BITS = 128 };

static Magnitude infinite(void)
{
    return (Magnitude){INFINITY, 0};
}

/* x 2^exponent, x >= 0. */
static Magnitude normal(double x, long exponent)
{
    int own;
    if (x == 0) {
        return (Magnitude){0, 0};
    }
    if (!(x < INFINITY)) {
        return infinite();
    }
    double digits = frexp(x, &own);
    if (exponent > -EXPONENT_LEAST) {
        return infinite();
    }
    return (Magnitude){digits, exponent < EXPONENT_LEAST ? EXPONENT_LEAST : exponent + own};
}

static double above(double x)
{
    return x == 0 ? 0 : nextafter(x, INFINITY);
}

Magnitude magnitude_of(double x, long exponent)
{
    return normal(fabs(x), exponent);
}

Magnitude magnitude_of_size(size_t n)
{
    return normal((size_t)(double)n == n ? (double)n : above((double)n), 0);
}

Magnitude magnitude_sum(Magnitude a, Magnitude b)
{
    enum { FAR = 64 };
    if (a.digits == 0 || b.digits == 0 || a.digits == INFINITY || b.digits == INFINITY) {
        return a.digits == 0 ? b : b.digits == 0 ? a : infinite();
    }
    Magnitude large = a.exponent >= b.exponent ? a : b, small = a.exponent >= b.exponent ? b : a;
    long distance = large.exponent - small.exponent;
    double rest = distance > FAR ? 0 : ldexp(small.digits, -(int)distance);
    return normal(above(large.digits + rest), large.exponent);
}

Magnitude magnitude_product(Magnitude a, Magnitude b)
{
    if (a.digits == 0 || b.digits == 0) {
        return (Magnitude){0, 0};
    }
    return normal(above(a.digits * b.digits), a.exponent + b.exponent);
}

Magnitude magnitude_square(Magnitude a)
{
    return magnitude_product(a, a);
}

Magnitude magnitude_root(Magnitude a)
{
    long odd = a.exponent & 1;
    return normal(above(sqrt(odd ? 2 * a.digits : a.digits)), (a.exponent - odd) / 2);
}

bool magnitude_above(Magnitude a, Magnitude b)
{
    if (a.digits == 0 || b.digits == 0 || a.digits == INFINITY || b.digits == INFINITY) {
        return a.digits > b.digits;
    }
    return a.exponent != b.exponent ? a.exponent > b.exponent : a.digits > b.digits;
}

Magnitude magnitude_least(Magnitude a, Magnitude b)
{
    return magnitude_above(a, b) ? b : a;
}

Magnitude magnitude_most(Magnitude a, Magnitude b)
{
    return magnitude_above(a, b) ? a : b;
}

/* x > 0 in MPFR, which rounded it up. */
static Magnitude of_mpfr(mpfr_srcptr x)
{
    long exponent;
    double digits = mpfr_get_d_2exp(&exponent, x, MPFR_RNDU);
    return mpfr_inf_p(x) || mpfr_nan_p(x) ? infinite() : normal(digits, exponent);
}

Magnitude magnitude_inverse_root(double x)
{
    mpfr_t y;
    mpfr_init2(y, BITS);
    mpfr_set_d(y, x, MPFR_RNDD);
    mpfr_rec_sqrt(y, y, MPFR_RNDU);
    Magnitude result = of_mpfr(y);
    mpfr_clear(y);
    return result;
}

Magnitude magnitude_exp(double raised, double omega)
{
    mpfr_t x, twice;
    mpfr_init2(x, BITS);
    mpfr_init2(twice, BITS);
    mpfr_set_d(twice, omega, MPFR_RNDD);
    mpfr_mul_2ui(twice, twice, 1, MPFR_RNDD);
    mpfr_set_d(x, raised, MPFR_RNDU);
    mpfr_sub(x, x, twice, MPFR_RNDU);
    mpfr_exp(x, x, MPFR_RNDU);
    Magnitude result = of_mpfr(x);
    mpfr_clear(x);
    mpfr_clear(twice);
    return result;
}

double magnitude_double(Magnitude a)
{
    enum { RANGE = 2000 };
    if (a.digits == 0 || a.exponent > RANGE) {
        return a.digits == 0 ? 0 : INFINITY;
    }
    double x = a.exponent < -RANGE ? 0 : ldexp(a.digits, (int)a.exponent);
    return x < 0x1p-1022 ? 0x1p-1022 : x;
}

static void to_mpfr(mpfr_t x, Magnitude a)
{
    mpfr_init2(x, BITS);
    mpfr_set_d(x, a.digits, MPFR_RNDU);
    mpfr_mul_2si(x, x, a.exponent, MPFR_RNDU);
}

void magnitude_print(char text[MAGNITUDE_TEXT], Magnitude a, int digits)
{
    mpfr_t x;
    to_mpfr(x, a);
    mpfr_snprintf(text, MAGNITUDE_TEXT, a.digits == 0 ? "0" : "%.*RUg", digits, x);
    mpfr_clear(x);
}

void magnitude_print_log10(char text[MAGNITUDE_TEXT], Magnitude a, int digits)
{
    mpfr_t x;
    *text = '\0';
    if (a.digits > 0) {
        to_mpfr(x, a);
        mpfr_log10(x, x, MPFR_RNDU);
        mpfr_snprintf(text, MAGNITUDE_TEXT, "%.*RUg", digits, x);
        mpfr_clear(x);
    }
}
