/*
 * Tables of cos and sin for rotary positions.
 */
#include "../reference.h"

#include <float.h>

/* The powers of a turn are off by a rounding each: by 2^-200 of them where no double is that near
 * the middle of two others. */
enum { TABLE_BITS = 256 };

/* ---- Exact ----------------------------------------------------------------------------------- */

/* Of waves between the long and the short ones: how much of f stays, in x. */
static void blend(mpfr_ptr x, mpfr_srcptr f, const RotaryScaling *scaling)
{
    mpfr_const_pi(x, MPFR_RNDN);
    mpfr_div(x, f, x, MPFR_RNDN);
    mpfr_mul_d(x, x, scaling->length / 2, MPFR_RNDN); /* length over the wave's */
    mpfr_sub_d(x, x, scaling->low, MPFR_RNDN);
    mpfr_div_d(x, x, scaling->high - scaling->low, MPFR_RNDN);
    if (mpfr_sgn(x) < 0) {
        mpfr_set_ui(x, 0, MPFR_RNDN);
    } else if (mpfr_cmp_ui(x, 1) > 0) {
        mpfr_set_ui(x, 1, MPFR_RNDN);
    }
}

/* f, of pair p. */
static void frequency(mpfr_ptr f, mpfr_ptr t, const RotaryAngles *angles, size_t p)
{
    const RotaryScaling *scaling = &angles->scaling;
    mpfr_set_d(f, angles->theta, MPFR_RNDN);
    mpfr_log(f, f, MPFR_RNDN);
    mpfr_mul_ui(f, f, 2 * p, MPFR_RNDN);
    mpfr_div_ui(f, f, angles->width, MPFR_RNDN);
    mpfr_neg(f, f, MPFR_RNDN);
    mpfr_exp(f, f, MPFR_RNDN);
    if (scaling->kind == SCALING_LINEAR) {
        mpfr_div_d(f, f, scaling->factor, MPFR_RNDN);
    } else if (scaling->kind == SCALING_LLAMA3) { /* f (1 - x)/factor + f x */
        blend(t, f, scaling);
        mpfr_mul_d(t, t, scaling->factor - 1, MPFR_RNDN);
        mpfr_add_ui(t, t, 1, MPFR_RNDN);
        mpfr_div_d(t, t, scaling->factor, MPFR_RNDN);
        mpfr_mul(f, f, t, MPFR_RNDN);
    }
}

/* Pair p's column: powers of the turn of one position. */
static void exact_column(double *cos, double *sin, const RotaryAngles *angles, size_t p)
{
    mpfr_t c, s, one_c, one_s, t;
    size_t half = angles->width / 2;
    mpfr_inits2(TABLE_BITS, c, s, one_c, one_s, t, (mpfr_ptr)0);
    frequency(one_s, t, angles, p);
    mpfr_sin_cos(one_s, one_c, one_s, MPFR_RNDN);
    mpfr_set_ui(c, 1, MPFR_RNDN);
    mpfr_set_ui(s, 0, MPFR_RNDN);
    for (size_t i = 0; i < angles->positions; i++) {
        cos[i * half + p] = mpfr_get_d(c, MPFR_RNDN);
        sin[i * half + p] = mpfr_get_d(s, MPFR_RNDN);
        mpfr_fmms(t, c, one_c, s, one_s, MPFR_RNDN);
        mpfr_fmma(s, s, one_c, c, one_s, MPFR_RNDN);
        mpfr_swap(c, t);
    }
    mpfr_clears(c, s, one_c, one_s, t, (mpfr_ptr)0);
}

/* ---- In float, operation by operation, as transformers computes them ------------------------- */

/* theta^-(2 p / width): a power rounded once, and its inverse. */
static float float_frequency(const RotaryAngles *angles, size_t p)
{
    const RotaryScaling *scaling = &angles->scaling;
    mpfr_t power, exponent;
    mpfr_inits2(FLT_MANT_DIG, power, exponent, (mpfr_ptr)0);
    mpfr_set_flt(exponent, (float)(2 * p) / (float)angles->width, MPFR_RNDN);
    mpfr_set_d(power, angles->theta, MPFR_RNDN);
    mpfr_pow(power, power, exponent, MPFR_RNDN);
    float f = 1.0F / mpfr_get_flt(power, MPFR_RNDN);
    mpfr_clears(power, exponent, (mpfr_ptr)0);
    if (scaling->kind == SCALING_LINEAR) {
        return f / (float)scaling->factor;
    }
    if (scaling->kind == SCALING_LLAMA3) {
        float length = (float)scaling->length, wave = 1.0F / f * 6.28318530717958647692F;
        float low = (float)scaling->low, width = (float)(scaling->high - scaling->low);
        float x = (1.0F / wave * length - low) / width;
        float scaled = f / (float)scaling->factor;
        float mixed = (1.0F - x) * scaled + x * f;
        bool is_long = wave > (float)(scaling->length / scaling->low);
        bool is_short = wave < (float)(scaling->length / scaling->high);
        return is_long ? scaled : is_short ? f : mixed;
    }
    return f;
}

static void float_column(double *cos, double *sin, const RotaryAngles *angles, size_t p)
{
    mpfr_t angle, turn;
    size_t half = angles->width / 2;
    float f = float_frequency(angles, p);
    mpfr_inits2(FLT_MANT_DIG, angle, turn, (mpfr_ptr)0);
    for (size_t i = 0; i < angles->positions; i++) {
        mpfr_set_flt(angle, f * (float)i, MPFR_RNDN);
        mpfr_cos(turn, angle, MPFR_RNDN);
        cos[i * half + p] = mpfr_get_d(turn, MPFR_RNDN);
        mpfr_sin(turn, angle, MPFR_RNDN);
        sin[i * half + p] = mpfr_get_d(turn, MPFR_RNDN);
    }
    mpfr_clears(angle, turn, (mpfr_ptr)0);
}

void ref_rotary_tables(double *cos, double *sin, const RotaryAngles *angles)
{
    for (size_t p = 0; p < angles->width / 2; p++) {
        (angles->float32 ? float_column : exact_column)(cos, sin, angles, p);
    }
}
