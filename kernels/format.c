/*
 * Rounding to the 16-bit formats, by the bits of a float.
 */
#include "format.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const FormatInfo infos[NUMBER_FORMATS] = {
    [FORMAT_F64] = {"double", DBL_MANT_DIG, DBL_MIN_EXP, DBL_MIN, DBL_MAX},
    [FORMAT_F32] = {"float", FLT_MANT_DIG, FLT_MIN_EXP, FLT_MIN, FLT_MAX},
    [FORMAT_BF16] = {"bfloat16", 8, FLT_MIN_EXP, FLT_MIN, 0x1.fep127},
    [FORMAT_FP16] = {"half", 11, -13, 0x1p-14, 0x1.ffcp15},
};

const FormatInfo *format_info(NumberFormat format)
{
    return &infos[format];
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define SIGN 0x80000000U
#define INFINITE 0x7f800000U
#define QUIET 0x00400000U

/* The bits of a float without its lowest `dropped` ones, which are 0 of an infinity.  Half of the
 * last bit kept, less the least number above 0 where that bit is even, carries where it rounds up:
 * into the exponent, and from the largest number to infinity. */
static inline uint32_t drop(uint32_t bits, int dropped)
{
    uint32_t last = 1U << dropped;
    uint32_t rounded = (bits + (last / 2 - 1) + ((bits >> dropped) & 1)) & ~(last - 1);
    return (bits & ~SIGN) > INFINITE ? bits | QUIET : rounded;
}

/* bfloat16 has a float's exponents, subnormal ones too. */
static inline float round_bf16(float x)
{
    return float_of(drop(bits_of(x), 16));
}

/* Numbers below 2^-14 are multiples of 2^-24, which is the last bit of floats from 0.5 on. */
static inline float round_fp16(float x)
{
    uint32_t bits = bits_of(x), size = bits & ~SIGN, normal = drop(size, 13);
    uint32_t subnormal = bits_of((float_of(size) + 0.5F) - 0.5F);
    uint32_t rounded = size < 0x38800000U ? subnormal : normal;
    rounded = size <= INFINITE && rounded > 0x477fe000U ? INFINITE : rounded;
    return float_of(rounded | (bits & SIGN));
}

static void all_to_bf16(float *x, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        x[i] = round_bf16(x[i]);
    }
}

static void all_to_fp16(float *x, size_t count)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        x[i] = round_fp16(x[i]);
    }
}

void format_round(NumberFormat format, float *x, size_t count)
{
    if (format == FORMAT_BF16) {
        all_to_bf16(x, count);
    } else if (format == FORMAT_FP16) {
        all_to_fp16(x, count);
    }
}

/* x cut to a float whose last bit is set where anything was lost, so that a second rounding, to two
 * digits fewer or less, is as if it were the first. */
static float to_odd(double x)
{
    float nearest = (float)x;
    uint32_t bits = bits_of(nearest);
    if ((double)nearest == x || isnan(x)) {
        return nearest;
    }
    bits -= fabs((double)nearest) > fabs(x);
    return float_of(bits | 1);
}

double format_nearest(NumberFormat format, double x)
{
    switch (format) {
    case FORMAT_F32: return (double)(float)x;
    case FORMAT_BF16: return (double)round_bf16(to_odd(x));
    case FORMAT_FP16: return (double)round_fp16(to_odd(x));
    default: return x;
    }
}
