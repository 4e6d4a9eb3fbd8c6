/*
 * Rounding to number formats: every number of 16 bits and every tie between two, and random floats
 * and doubles against MPFR's rounding with mpfr_subnormalize.
 */
#include "../../cases/storage.h"
#include "../../kernels/arithmetic.h"
#include "../unit.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

/* As kernels/softmax.h has it for float. */
float softmax_row_f32(float *row, size_t visible, size_t length, float *bias, NumberFormat format);

static const NumberFormat small[] = {FORMAT_BF16, FORMAT_FP16};
static const NumberFormat narrow[] = {FORMAT_F32, FORMAT_TF32, FORMAT_BF16, FORMAT_FP16};

enum { NARROW = sizeof narrow / sizeof *narrow };

/* The number that 16 bits are, by the formats' definition: sign, exponent, fraction. */
static double of_bits(NumberFormat format, unsigned bits)
{
    int fraction_bits = format == FORMAT_BF16 ? 7 : 10;
    unsigned exponent = (bits & 0x7fff) >> fraction_bits;
    unsigned fraction = bits & ((1U << fraction_bits) - 1), most = 0x7fffU >> fraction_bits;
    int bias = (int)most / 2;
    double size;
    if (exponent == most) {
        size = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else if (exponent == 0) {
        size = ldexp(fraction, 1 - bias - fraction_bits);
    } else {
        size = ldexp(fraction + (1U << fraction_bits), (int)exponent - bias - fraction_bits);
    }
    return (bits & 0x8000) != 0 ? -size : size;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The same bits, a zero's sign too; or both NaN. */
static void assert_same(double got, double expected, double x)
{
    if (!(isnan(got) && isnan(expected)) && bits_of(got) != bits_of(expected)) {
        fail_msg("%a rounds to %a, expected %a", x, got, expected);
    }
}

static double rounded_float(NumberFormat format, double x)
{
    float single = (float)x;
    format_round(format, &single, 1);
    return (double)single;
}

static void assert_rounds(NumberFormat format, double x, double expected)
{
    assert_same(format_nearest(format, x), expected, x);
    if ((double)(float)x == x || isnan(x)) {
        assert_same(rounded_float(format, x), expected, x);
    }
}

static void every_number_stays(void **state)
{
    for (size_t f = 0; f < 2; f++) {
        for (unsigned bits = 0; bits < 0x10000; bits++) {
            double x = of_bits(small[f], bits);
            assert_rounds(small[f], x, x);
        }
    }
}

/* Between neighbours: the tie goes to the even one, what is beside it to the nearer.  Beyond the
 * largest number the next would be a power of two, and is infinity. */
static void every_tie_goes_to_the_even_number(void **state)
{
    for (size_t f = 0; f < 2; f++) {
        unsigned infinite = small[f] == FORMAT_BF16 ? 0x7f80 : 0x7c00;
        double beyond = ldexp(1, small[f] == FORMAT_BF16 ? 128 : 16);
        for (unsigned bits = 0; bits < infinite; bits++) {
            double low = of_bits(small[f], bits), high = of_bits(small[f], bits + 1);
            double tie = (low + (bits + 1 == infinite ? beyond : high)) / 2;
            double even = bits % 2 == 0 ? low : high;
            for (int sign = -1; sign <= 1; sign += 2) {
                assert_rounds(small[f], sign * tie, sign * even);
                assert_rounds(small[f], sign * nextafter(tie, 0), sign * low);
                assert_rounds(small[f], sign * nextafter(tie, INFINITY), sign * high);
                assert_rounds(small[f], sign * (double)nextafterf((float)tie, 0), sign * low);
                assert_rounds(small[f], sign * (double)nextafterf((float)tie, INFINITY),
                              sign * high);
            }
        }
    }
}

/* What MPFR says: rounded to the digits, then once more, right, where it is subnormal. */
static double by_mpfr(NumberFormat format, double x)
{
    const FormatInfo *info = format_info(format);
    mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
    mpfr_t y;
    mpfr_init2(y, info->digits);
    mpfr_set_emin(info->least_exponent - info->digits + 1);
    mpfr_set_emax(3 - info->least_exponent);
    int inexact = mpfr_set_d(y, x, MPFR_RNDN);
    inexact = mpfr_check_range(y, inexact, MPFR_RNDN);
    mpfr_subnormalize(y, inexact, MPFR_RNDN);
    double result = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(least);
    mpfr_set_emax(most);
    mpfr_clear(y);
    return result;
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Any float; then those whose exponents are around the formats' ends. */
static void random_floats_round_as_in_mpfr(void **state)
{
    uint64_t seed = 20261122;
    for (int i = 0; i < 1000000; i++) {
        uint32_t bits = (uint32_t)next(&seed);
        float x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x) || x == 0) {
            continue;
        }
        double y = i % 2 == 0 ? (double)x : ldexp((double)x, (int)(bits % 48) - 28 - ilogbf(x));
        for (size_t f = 0; f < NARROW; f++) {
            assert_rounds(narrow[f], y, by_mpfr(narrow[f], y));
        }
    }
}

/* Doubles near ties, which a rounding to float on the way would make ties, one and many at once;
 * and the weights of a model, which another program rounds. */
static void doubles_round_once(void **state)
{
    enum { MANY = 61 };
    double from[MANY], expected_of[MANY];
    float many[MANY];
    uint64_t seed = 14;
    for (int i = 0; i < 3200 * MANY; i++) {
        const NumberFormat format = narrow[i / MANY % NARROW];
        const FormatInfo *info = format_info(format);
        uint64_t random = next(&seed);
        double significand = 1 + ldexp((double)(random % 4096), -info->digits);
        double y = ldexp(significand, (int)(random >> 32) % 60 - 30);
        y = i % 5 == 0 ? y : nextafter(y, i % 5 < 3 ? 0 : INFINITY);
        double expected = by_mpfr(format, y);
        assert_same(format_nearest(format, y), expected, y);
        double stored = storage_nearest(y, info->digits, info->least_exponent);
        assert_same(stored, isinf(expected) ? y : expected, y);
        from[i % MANY] = y;
        expected_of[i % MANY] = expected;
        if (i % MANY == MANY - 1) {
            format_store(format, from, many, MANY);
            for (int k = 0; k < MANY; k++) {
                assert_same((double)many[k], expected_of[k], from[k]);
            }
        }
    }
}

/* Three keys, the last of which may be the bias row's, weigh a third each, which is 171/512 in
 * bfloat16 and 1365/4096 in half: the weight on a row's keys is the sum of what was stored. */
static void weights_add_up_as_stored(void **state)
{
    static const double third[] = {171.0 / 512, 1365.0 / 4096};
    for (size_t f = 0; f < 2; f++) {
        float row[] = {2, 2, 2, 7}, bias = 2;
        assert_true(softmax_row_f32(row, 3, 4, NULL, small[f]) == (float)(3 * third[f]));
        assert_true(row[0] == (float)third[f] && row[3] == 0);
        row[0] = row[1] = 2;
        assert_true(softmax_row_f32(row, 2, 4, &bias, small[f]) == (float)(2 * third[f]));
        assert_true(bias == (float)third[f] && row[1] == bias && row[2] == 0);
    }
}

SUBJECT(rounding)
{
    const struct CMUnitTest roundings[] = {
        cmocka_unit_test(every_number_stays),
        cmocka_unit_test(every_tie_goes_to_the_even_number),
        cmocka_unit_test(random_floats_round_as_in_mpfr),
        cmocka_unit_test(doubles_round_once),
        cmocka_unit_test(weights_add_up_as_stored),
    };
    return cmocka_run_group_tests(roundings, NULL, NULL);
}
