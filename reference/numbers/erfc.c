/*
 * erfc of single numbers, in fixed point on limbs, by the series of erfc_fixed.
 *
 * With w = 2 z^2, bracket k weighs c_k = w^k / (3 5 ... (2k + 1)) in S, the sum of c_k.  It is off
 * by two units of its last limb, and has j limbs fewer where c_k < 2^-64j: K brackets cost 2 K u S,
 * u = 2^-F.  As erfc(z) >= 2^-d, d = 1.45 z^2 + log2(z + 1) + 1, F >= p + 24 + d for x > 0, and
 * p + 24 for x < 0, leaves 2^-3 2^-p of 2^20 brackets.  Where 1.44 z^2 > p + 16, the series in
 * 1 / w is off by less than the first term left out; its least is below 2^(1/2) e^(-z^2), and terms
 * are followed to 2^(-p - 12).
 */
#include "fixed.h"

#include <math.h>
#include <string.h>

/* Arguments from 2^-500 to 2^9: elsewhere MPFR is quick.  GUARD: for the roundings of up to 2^20
 * terms. */
enum { LEAST = -500, MOST = 9, GUARD = 24 };

/* Keeps term in [2^-64, 1). */
static void scale(double *term, long *under)
{
    for (; *term < 0x1p-64; ++*under) {
        *term *= 0x1p64;
    }
    for (; *term >= 1; --*under) {
        *term *= 0x1p-64;
    }
}

/* Limbs that nothing needs of a number that is multiplied by less than 2^(-64 under). */
static size_t unneeded(size_t limbs, long under)
{
    return under < 0 ? 0 : (size_t)under < limbs ? (size_t)under : limbs;
}

/* y [limbs + integers] = 1 + a_1 w (1 + a_2 w (1 + ...)), down to terms of 2^-least, w being
 * e->rest with an integer limb.  Of erf, a_k is 1 / (2k + 1); else -(2k - 1).  A bracket is
 * multiplied by term 2^(-64 under), and has no more limbs than that needs. */
static void brackets(ApExp *e, mp_limb_t *y, size_t limbs, size_t integers, double w, double least,
                     bool of_erf)
{
    double term = 1;
    long under = 0;
    unsigned long k = 0;
    for (; 64 * (double)under - ilogb(term) < least; scale(&term, &under)) {
        k++;
        term *= of_erf ? w / (double)(2 * k + 1) : w * (double)(2 * k - 1);
    }
    memset(y, 0, (limbs + integers) * sizeof *y);
    y[limbs] = 1;
    for (size_t skip = unneeded(limbs, under); k > 0; k--) {
        term *= of_erf ? (double)(2 * k + 1) / w : 1 / (w * (double)(2 * k - 1));
        scale(&term, &under);
        const size_t now = unneeded(limbs, under);
        const mp_size_t size = (mp_size_t)(limbs + integers - now);
        fixed_multiply(e, y + now, y + skip, limbs + integers - skip, e->rest + now,
                       limbs + 1 - now, limbs - skip);
        if (of_erf) {
            mpn_divrem_1(y + now, 0, y + now, size, 2 * k + 1);
        } else {
            mpn_mul_1(y + now, y + now, size, 2 * k - 1);
            mpn_neg(y + now, y + now, size);
        }
        y[limbs]++;
        skip = now;
    }
}

/* With z = |x| and S = 1 + 2z^2/3 (1 + 2z^2/5 (1 + ...)), erf(z) = 2 / sqrt(pi) z exp(-z^2) S, and
 * erfc is 1 -+ that, for x > 0 with as many bits more as cancel; where exp(-z^2) is below a
 * rounding, x > 0, with s = 1 - 1/(2z^2) (1 - 3/(2z^2) (1 - ...)), it is
 * exp(-z^2) s / (sqrt(pi) z). */
static void erfc_fixed(ApExp *e, mpfr_ptr y, mpfr_srcptr x, double z, bool far)
{
    const double bits = (double)mpfr_get_prec(y), decay = 1.45 * z * z;
    const double small = log2(z + 1) + 1; /* erfc(z) >= 2^(-decay - small) */
    const double wanted = bits + GUARD + (mpfr_sgn(x) > 0 && !far ? decay + small : 0);
    const double grown = fmax(1.44 * z * z - small, 0); /* S is at least 2^grown */
    const size_t limbs = fixed_limbs(wanted), integers = far ? 1 : fixed_limbs(decay + 32);
    mpfr_t sum;
    fixed_need_tables(e);
    mpfr_set_prec(e->square, (mpfr_prec_t)wanted + 32);
    mpfr_set_prec(e->factor, (mpfr_prec_t)wanted);
    mpfr_sqr(e->square, x, MPFR_RNDN);
    mpfr_neg(e->square, e->square, MPFR_RNDN);
    ap_exp(e, e->factor, e->square);
    mpfr_mul_2ui(e->square, e->square, 1, MPFR_RNDN);
    if (far) {
        mpfr_ui_div(e->square, 1, e->square, MPFR_RNDN);
    }
    fixed_of(e->rest, limbs, 1, e->square);
    brackets(e, e->sum, limbs, integers, far ? 0.5 / (z * z) : 2 * z * z,
             far ? bits + 12 : wanted - grown, !far);
    fixed_to(sum, e->sum, limbs + integers, -64 * (long)limbs);
    mpfr_mul(e->factor, e->factor, sum, MPFR_RNDN);
    mpfr_mul(e->factor, e->factor, e->ratio, MPFR_RNDN);
    if (far) {
        mpfr_div(e->factor, e->factor, x, MPFR_RNDN);
        mpfr_div_2ui(y, e->factor, 1, MPFR_RNDN);
    } else {
        mpfr_mul(e->factor, e->factor, x, MPFR_RNDN); /* of x's sign */
        mpfr_ui_sub(y, 1, e->factor, MPFR_RNDN);
    }
}

void ap_erfc(ApExp *e, mpfr_ptr y, mpfr_srcptr x)
{
    if (!fixed_can(e, x, MOST, mpfr_get_prec(y)) || mpfr_get_exp(x) < LEAST) {
        mpfr_erfc(y, x, MPFR_RNDN);
        return;
    }
    const double z = fabs(mpfr_get_d(x, MPFR_RNDN));
    const bool far = 1.44 * z * z > (double)mpfr_get_prec(y) + 16;
    if (far && mpfr_sgn(x) < 0) {
        mpfr_set_ui(y, 2, MPFR_RNDN);
    } else {
        erfc_fixed(e, y, x, z, far);
    }
}
