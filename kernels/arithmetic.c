/*
 * The tables of number formats and of machine arithmetics, and rounding by the bits of a float.
 */
#include "arithmetic.h"

#include "kernel.h"
#include "pass.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- Number formats -------------------------------------------------------------------------- */

static const FormatInfo formats[NUMBER_FORMATS] = {
    [FORMAT_F64] = {"double", DBL_MANT_DIG, DBL_MIN_EXP, DBL_MIN, DBL_MAX},
    [FORMAT_F32] = {"float", FLT_MANT_DIG, FLT_MIN_EXP, FLT_MIN, FLT_MAX},
    [FORMAT_TF32] = {"TensorFloat-32", 11, FLT_MIN_EXP, FLT_MIN, 0x1.ffcp127},
    [FORMAT_BF16] = {"bfloat16", 8, FLT_MIN_EXP, FLT_MIN, 0x1.fep127},
    [FORMAT_FP16] = {"half", 11, -13, 0x1p-14, 0x1.ffcp15},
};

const FormatInfo *format_info(NumberFormat format)
{
    return &formats[format];
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

/* How many of a float's last bits a format drops that has a float's exponents: TF32 or BF16.  Its
 * subnormal numbers drop as many. */
static int dropped_of(NumberFormat format)
{
    return FLT_MANT_DIG - formats[format].digits;
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

static void all_dropped(float *x, size_t count, int dropped)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        x[i] = float_of(drop(bits_of(x[i]), dropped));
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
    switch (format) {
    case FORMAT_TF32:
    case FORMAT_BF16: all_dropped(x, count, dropped_of(format)); break;
    case FORMAT_FP16: all_to_fp16(x, count); break;
    default: break;
    }
}

/* x cut to a float whose last bit is set where anything was lost, so that a second rounding, to two
 * digits fewer or less, is as if it were the first.  Of NaN nothing is. */
static inline float to_odd(double x)
{
    float nearest = (float)x;
    uint32_t bits = bits_of(nearest), beyond = fabs((double)nearest) > fabs(x);
    uint32_t lost = ((double)nearest < x) | ((double)nearest > x);
    return float_of((bits - beyond) | lost);
}

void format_store(NumberFormat format, const double *from, float *to, size_t count)
{
    if (format == FORMAT_F64 || format == FORMAT_F32) {
#pragma omp simd
        for (size_t i = 0; i < count; i++) {
            to[i] = (float)from[i];
        }
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        to[i] = to_odd(from[i]);
    }
    format_round(format, to, count);
}

double format_nearest(NumberFormat format, double x)
{
    float stored;
    if (format == FORMAT_F64) {
        return x;
    }
    format_store(format, &x, &stored, 1);
    return (double)stored;
}

/* ---- Arithmetics ----------------------------------------------------------------------------- */

const char *const arithmetic_names[ARITHMETIC_COUNT] = {
    [ARITHMETIC_NONE] = "none",
    [ARITHMETIC_F64] = "f64",
    [ARITHMETIC_F32] = "f32",
    [ARITHMETIC_BF16] = "bf16",
    [ARITHMETIC_FP16] = "fp16",
    [ARITHMETIC_BF16_FLASH] = "bf16-flash",
    [ARITHMETIC_FP16_FLASH] = "fp16-flash",
    [ARITHMETIC_BF16_AUTOCAST] = "bf16-autocast",
    [ARITHMETIC_TF32] = "tf32",
};

/* Storage, stream, operands of products, scores. */
#define ALL_F64 FORMAT_F64, FORMAT_F64, FORMAT_F64, FORMAT_F64
#define ALL_F32 FORMAT_F32, FORMAT_F32, FORMAT_F32, FORMAT_F32
#define ALL_BF16 FORMAT_BF16, FORMAT_BF16, FORMAT_BF16, FORMAT_BF16
#define ALL_FP16 FORMAT_FP16, FORMAT_FP16, FORMAT_FP16, FORMAT_FP16

static const ArithmeticInfo arithmetics[ARITHMETIC_COUNT] = {
    [ARITHMETIC_F64] = {"double", {ALL_F64}, &kernel_f64, 0.06e-9, 10e-9},
    [ARITHMETIC_F32] = {"float", {ALL_F32}, &kernel_f32, 0.03e-9, 5e-9},
    [ARITHMETIC_BF16] = {"bfloat16", {ALL_BF16}, &kernel_f32, 0.04e-9, 8e-9},
    [ARITHMETIC_FP16] = {"half", {ALL_FP16}, &kernel_f32, 0.04e-9, 8e-9},
    [ARITHMETIC_BF16_FLASH] = {"bfloat16 with scores in float",
                               {FORMAT_BF16, FORMAT_BF16, FORMAT_BF16, FORMAT_F32},
                               &kernel_f32,
                               0.04e-9,
                               7e-9},
    [ARITHMETIC_FP16_FLASH] = {"half with scores in float",
                               {FORMAT_FP16, FORMAT_FP16, FORMAT_FP16, FORMAT_F32},
                               &kernel_f32,
                               0.04e-9,
                               7e-9},
    [ARITHMETIC_BF16_AUTOCAST] = {"float with products of bfloat16",
                                  {FORMAT_F32, FORMAT_F32, FORMAT_BF16, FORMAT_F32},
                                  &kernel_f32,
                                  0.04e-9,
                                  7e-9},
    [ARITHMETIC_TF32] = {"float with products of TensorFloat-32",
                         {FORMAT_F32, FORMAT_F32, FORMAT_TF32, FORMAT_F32},
                         &kernel_f32,
                         0.04e-9,
                         7e-9},
};

const ArithmeticInfo *arithmetic_info(Arithmetic arithmetic)
{
    KERNEL_CHECK(arithmetic > ARITHMETIC_NONE && arithmetic < ARITHMETIC_COUNT);
    return &arithmetics[arithmetic];
}
