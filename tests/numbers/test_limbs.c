/*
 * Sums, differences, products and quotients of single numbers against MPFR's, bit by bit: all
 * counts of limbs, signs and distances of exponents, ties, numbers of long runs of ones and zeros,
 * what cancels, and what is no number.
 */
#include "../drawn_numbers.h"
#include "../fixture.h"

#include "../../reference/numbers/limbs.h"
#include "../../reference/reference.h"
#include "../unit.h"

#include <float.h>
#include <gmp.h>
#include <math.h>
#include <stdlib.h>

typedef void Operation(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
typedef int Definition(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t rounding);

static const struct {
    const char *name;
    Operation *operation;
    Definition *definition;
} operations[] = {
    {"add", limbs_add, mpfr_add},
    {"sub", limbs_sub, mpfr_sub},
    {"mul", limbs_mul, mpfr_mul},
    {"div", limbs_div, mpfr_div},
};

enum { OPERATIONS = sizeof operations / sizeof *operations, PAIRS = 400 };

/* Those of whole limbs, and a few others. */
static const mpfr_prec_t precisions[] = {64, 128, 192, 256, 320, 53, 100};

enum { PRECISIONS = sizeof precisions / sizeof *precisions };

/* Every operation on the pair, into a number of its own and into each of the two. */
static void check_pair(mpfr_ptr y, mpfr_ptr expected, mpfr_srcptr a, mpfr_srcptr b)
{
    for (size_t o = 0; o < OPERATIONS; o++) {
        operations[o].definition(expected, a, b, MPFR_RNDN);
        operations[o].operation(y, a, b);
        bool right = same_number(y, expected);
        if (mpfr_get_prec(y) == mpfr_get_prec(a)) {
            mpfr_set(y, a, MPFR_RNDN);
            operations[o].operation(y, y, b);
            right = right && same_number(y, expected);
        }
        if (mpfr_get_prec(y) == mpfr_get_prec(b)) {
            mpfr_set(y, b, MPFR_RNDN);
            operations[o].operation(y, a, y);
            right = right && same_number(y, expected);
        }
        if (!right) {
            mpfr_printf("%s of %Ra and %Ra: %Ra, expected %Ra\n", operations[o].name, a, b, y,
                        expected);
            fail();
        }
    }
    mpfr_set(expected, a, MPFR_RNDN);
    limbs_set(y, a);
    assert_true(same_number(y, expected));
    mpfr_setsign(expected, a, 1, MPFR_RNDN);
    limbs_below_zero(y, a);
    assert_true(same_number(y, expected));
    assert_int_equal(limbs_greater(a, b), mpfr_cmp(a, b) > 0);
    assert_int_equal(limbs_greater(b, a), mpfr_cmp(b, a) > 0);
}

/* A number's exponent and mantissa are read from its bits: of the least and the largest, of what
 * is below the normal ones, of zeros and of no numbers. */
static void doubles_are_mpfrs(void **state)
{
    const double doubles[] = {1,         -1,           0x1.fffffffffffffp0,
                              0x1p-1022, -0x1.8p-1022, 0x1p-1074,
                              DBL_MAX,   -DBL_MAX,     0.0,
                              -0.0,      INFINITY,     -INFINITY,
                              NAN,       0.1,          -3e-300};
    for (size_t p = 0; p < PRECISIONS; p++) {
        mpfr_t y, expected;
        mpfr_inits2(precisions[p], y, expected, (mpfr_ptr)0);
        for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
            mpfr_set_ui(y, 3, MPFR_RNDN);
            mpfr_set_d(expected, doubles[i], MPFR_RNDN);
            limbs_set_d(y, doubles[i]);
            assert_true(same_number(y, expected));
        }
        mpfr_clears(y, expected, (mpfr_ptr)0);
    }
}

static void check_precisions(gmp_randstate_t random, const mpfr_prec_t *bits)
{
    mpfr_t y, expected, a, b;
    mpfr_init2(y, bits[0]);
    mpfr_init2(expected, bits[0]);
    mpfr_init2(a, bits[1]);
    mpfr_init2(b, bits[2]);
    for (size_t i = 0; i < PAIRS; i++) {
        draw_pair(a, b, random, i / 37, i % 37);
        check_pair(y, expected, a, b);
    }
    mpfr_clears(y, expected, a, b, (mpfr_ptr)0);
}

static void all_are_mpfrs(void **state)
{
    each_precisions(check_precisions, precisions, PRECISIONS);
}

/* 1 + 2^-p is a tie, to even; a bit more or less, however far below, is none. */
static void ties_are_broken_by_all_that_is_below(void **state)
{
    for (mpfr_prec_t bits = 64; bits <= 256; bits += 64) {
        mpfr_t y, one, small, expected;
        mpfr_inits2(bits, y, one, small, expected, (mpfr_ptr)0);
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int odd = 0; odd < 2; odd++) {
                mpfr_set_ui(one, 1, MPFR_RNDN);
                if (odd) {
                    mpfr_nextabove(one);
                }
                for (int more = -1; more <= 1; more++) {
                    mpfr_set_ui_2exp(small, 1, -bits - (sign < 0), MPFR_RNDN);
                    if (more > 0) {
                        mpfr_nextabove(small);
                    } else if (more < 0) {
                        mpfr_nextbelow(small);
                    }
                    mpfr_mul_si(small, small, sign, MPFR_RNDN);
                    mpfr_add(expected, one, small, MPFR_RNDN);
                    limbs_add(y, small, one);
                    assert_true(same_number(y, expected));
                }
            }
        }
        mpfr_clears(y, one, small, expected, (mpfr_ptr)0);
    }
}

/* 1 + 2^-128, of 192 bits, and a little more or less, however far below, in 128. */
static void a_tie_of_longer_numbers_is_broken_by_what_is_far_below(void **state)
{
    mpfr_t y, expected, tie, small;
    mpfr_inits2(128, y, expected, (mpfr_ptr)0);
    mpfr_inits2(192, tie, small, (mpfr_ptr)0);
    for (long down = 130; down < 600; down++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            mpfr_set_ui_2exp(tie, 1, -128, MPFR_RNDN);
            mpfr_add_ui(tie, tie, 1, MPFR_RNDN);
            mpfr_set_si_2exp(small, sign, -down, MPFR_RNDN);
            mpfr_add(expected, tie, small, MPFR_RNDN);
            limbs_add(y, tie, small);
            assert_true(same_number(y, expected));
        }
    }
    mpfr_clears(y, expected, tie, small, (mpfr_ptr)0);
}

SUBJECT(limbs)
{
    ref_thread_setup(); /* exponents as wide as the reference has them */
    const struct CMUnitTest limbs[] = {
        cmocka_unit_test(all_are_mpfrs),
        cmocka_unit_test(doubles_are_mpfrs),
        cmocka_unit_test(ties_are_broken_by_all_that_is_below),
        cmocka_unit_test(a_tie_of_longer_numbers_is_broken_by_what_is_far_below),
    };
    return cmocka_run_group_tests(limbs, reference_set_up, reference_tear_down);
}
