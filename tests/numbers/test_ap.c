/*
 * Vectors in arbitrary precision: products against exact rationals, exp against MPFR's.
 */
#include "../fixture.h"

#include "../../cases/draw.h"
#include "../../reference/numbers/ap.h"
#include "../unit.h"

#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t seed = 20;

static double draw(const char *name, size_t i)
{
    return draw_normal(seed, draw_hash(name), 0, i, 0);
}

/* Entries spread over about 2 * spread binary orders of magnitude, zeros among them. */
static double wide(const char *name, size_t i, int spread)
{
    int exponent = (int)(draw_uniform(seed, draw_hash(name), 1, i, 0) * 2 * spread) - spread;
    return i % 7 == 3 ? 0 : ldexp(draw(name, i), exponent);
}

/* A 53-bit and a longer vector of the same doubles; the longer one's entries are multiplied by a
 * third at its precision, as the exact values that the rationals start from. */
static void fill(ApMat *a, ApMat *b, size_t count, int spread)
{
    for (size_t i = 0; i < count; i++) {
        mpfr_set_d(ap_at(b, 0, i), wide("w", i, spread), MPFR_RNDN);
        mpfr_set_d(ap_at(a, 0, i), wide("x", i, spread), MPFR_RNDN);
        mpfr_div_ui(ap_at(a, 0, i), ap_at(a, 0, i), 3, MPFR_RNDN);
    }
}

/* |y - exact| over the documented bound 2 count u sum|a b|. */
static double dot_ratio(mpfr_srcptr y, const ApMat *a, const ApMat *b, size_t count)
{
    mpq_t exact, magnitude, x, w;
    mpq_inits(exact, magnitude, x, w, NULL);
    for (size_t i = 0; i < count; i++) {
        mpfr_get_q(x, ap_at(a, 0, i));
        mpfr_get_q(w, ap_at(b, 0, i));
        mpq_mul(x, x, w);
        mpq_add(exact, exact, x);
        mpq_abs(x, x);
        mpq_add(magnitude, magnitude, x);
    }
    mpfr_get_q(x, y);
    mpq_sub(exact, exact, x);
    mpq_abs(exact, exact);
    double ratio = 0;
    if (mpq_sgn(magnitude) == 0) {
        assert_true(mpq_sgn(exact) == 0);
    } else {
        mpq_div(exact, exact, magnitude);
        mpq_mul_2exp(exact, exact, (mp_bitcnt_t)mpfr_get_prec(y));
        ratio = mpq_get_d(exact) / (2 * (double)count);
    }
    mpq_clears(exact, magnitude, x, w, NULL);
    return ratio;
}

static void dot_is_within_its_bound(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 17, 64};
    static const mpfr_prec_t precisions[] = {53, 64, 128, 192, 1024};
    static const int spreads[] = {0, 20, 500};
    double worst = 0;
    for (size_t i = 0; i < 6 * 5 * 3; i++) {
        size_t count = counts[i % 6];
        mpfr_prec_t bits = precisions[i / 6 % 5];
        ApMat a, b;
        mpfr_t y, t;
        ap_init(&a, 1, 64, bits);
        ap_init(&b, 1, 64, 53);
        mpfr_inits2(bits, y, t, (mpfr_ptr)0);
        fill(&a, &b, count, spreads[i / 30]);
        ap_dot(y, ap_at(&a, 0, 0), ap_at(&b, 0, 0), count, t);
        worst = fmax(worst, dot_ratio(y, &a, &b, count));
        mpfr_clears(y, t, (mpfr_ptr)0);
        ap_clear(&a);
        ap_clear(&b);
    }
    print_message("dot: worst error / bound %.3g\n", worst);
    assert_true(worst > 0 && worst < 1);
}

static void expm1_alone(ApExp *context, mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_t g;
    mpfr_init2(g, mpfr_get_prec(y));
    ap_expm1(context, y, g, x);
    mpfr_clear(g);
}

/* The exponential beside expm1, in place. */
static void exp_beside(ApExp *context, mpfr_ptr y, mpfr_srcptr x)
{
    mpfr_t m;
    mpfr_init2(m, mpfr_get_prec(y));
    mpfr_set(y, x, MPFR_RNDN); /* x has y's bits */
    ap_expm1(context, m, y, y);
    mpfr_clear(m);
}

typedef void Special(ApExp *context, mpfr_ptr y, mpfr_srcptr x);
typedef int Rounded(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rounding);

/* A function at x against MPFR's, correctly rounded at more bits: relative error in units of 2^-p.
 * Where that leaves the range, both are 0. */
static double error_of(Special *special, Rounded *rounded, ApExp *context, mpfr_srcptr x,
                       mpfr_prec_t bits)
{
    mpfr_t y, exact;
    mpfr_init2(y, bits);
    mpfr_init2(exact, bits + 64);
    special(context, y, x);
    rounded(exact, x, MPFR_RNDN);
    assert_true(mpfr_number_p(y) && mpfr_zero_p(y) == mpfr_zero_p(exact));
    mpfr_sub(y, y, exact, MPFR_RNDA);
    mpfr_div(y, y, exact, MPFR_RNDA);
    mpfr_mul_2si(y, y, (long)bits, MPFR_RNDA);
    double error = mpfr_zero_p(exact) ? 0 : fabs(mpfr_get_d(y, MPFR_RNDA));
    mpfr_clears(y, exact, (mpfr_ptr)0);
    return error;
}

/* The worst over `count` draws, the i-th times 2^power(i) / 3. */
static double worst_of(Special *special, Rounded *rounded, const char *name, int count,
                       long power(int), mpfr_prec_t bits)
{
    ApExp *context = ap_exp_create(bits);
    double worst = 0;
    mpfr_t x;
    assert_non_null(context);
    mpfr_init2(x, bits);
    for (int i = 0; i < count; i++) {
        mpfr_set_d(x, draw(name, (size_t)i), MPFR_RNDN);
        mpfr_div_ui(x, x, 3, MPFR_RNDN);
        mpfr_mul_2si(x, x, power(i), MPFR_RNDN);
        worst = fmax(worst, error_of(special, rounded, context, x, bits));
    }
    mpfr_clear(x);
    ap_exp_free(context);
    print_message("%s at %ld bits: worst error %.3g units of 2^-p\n", name, (long)bits, worst);
    return worst;
}

static void exp_is_within_its_bound(void **state)
{
    static const double arguments[] = {1,     -1,    0.5,  1e-300, -1e-30, 40,   -40,
                                       700,   -2000, 1e-5, 1e5,    -1e5,   1e9,  -2e12,
                                       1e-17, 3.25,  -0.1, 1e300,  -1e300, 4e17, -4e17};
    static const mpfr_prec_t precisions[] = {64, 128, 192,
                                             3072}; /* few of the tables' limbs, too */
    ApExp *context = ap_exp_create(3072);
    double worst = 0;
    assert_non_null(context);
    for (size_t i = 0; i < 4 * sizeof arguments / sizeof *arguments; i++) {
        mpfr_t x;
        double argument = arguments[i / 4];
        if (fabs(argument) > 1e18) {
            continue; /* the result leaves even MPFR's range; see below */
        }
        mpfr_init2(x, precisions[i % 4]);
        mpfr_set_d(x, argument, MPFR_RNDN);
        mpfr_sqrt_ui(x, 2, MPFR_RNDN);
        mpfr_mul_d(x, x, argument, MPFR_RNDN);
        worst = fmax(worst, error_of(ap_exp, mpfr_exp, context, x, precisions[i % 4]));
        mpfr_clear(x);
    }
    print_message("exp: worst error %.3g units of 2^-p\n", worst);
    assert_true(worst > 0 && worst <= 2);
    ap_exp_free(context);
}

/* Beyond the range, exp says 0 or infinity; at 0 exactly 1; NaN stays NaN. */
static void exp_at_the_ends(void **state)
{
    ApExp *context = ap_exp_create(128);
    mpfr_t x, y;
    assert_non_null(context);
    mpfr_inits2(128, x, y, (mpfr_ptr)0);
    mpfr_set_zero(x, 1);
    ap_exp(context, y, x);
    assert_true(mpfr_cmp_ui(y, 1) == 0);
    mpfr_set_d(x, -1e300, MPFR_RNDN);
    ap_exp(context, y, x);
    assert_true(mpfr_zero_p(y));
    mpfr_set_d(x, 1e300, MPFR_RNDN);
    ap_exp(context, y, x);
    assert_true(mpfr_inf_p(y));
    mpfr_set_nan(x);
    ap_exp(context, y, x);
    assert_true(mpfr_nan_p(y));
    mpfr_clears(x, y, (mpfr_ptr)0);
    ap_exp_free(context);
}

static long exp_power(int i)
{
    return i % 23 - 2;
}

/* Through all counts of limbs, of terms and of powers that a series has up to 3072 bits. */
static void exp_is_within_its_bound_at_every_size(void **state)
{
    const mpfr_prec_t step = fixture_short() ? 320 : 64;
    for (mpfr_prec_t bits = 2; bits < 3200; bits += bits < 130 ? 9 : step) {
        double worst = worst_of(ap_exp, mpfr_exp, "exp", 30, exp_power, bits);
        assert_true(worst > 0 && worst <= 1.3);
    }
}

static long expm1_power(int i)
{
    return i < 290 ? 6 - i : -1000000000L * i;
}

/* From where the result is -1 to where it is x, through the end of the series; both signs. */
static void expm1_is_within_its_bound(void **state)
{
    static const mpfr_prec_t bits[] = {64, 128, 192, 256, 1000};
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        double worst = worst_of(expm1_alone, mpfr_expm1, "expm1", 300, expm1_power, bits[k]);
        assert_true(worst > 0 && worst <= 1.3);
        worst = worst_of(exp_beside, mpfr_exp, "exp beside", 300, expm1_power, bits[k]);
        assert_true(worst > 0 && worst <= 1.3);
    }
}

static long erfc_power(int i)
{
    return i < 10 ? -100 * i : i < 138 ? i % 32 / 2 - 9 : 37;
}

/* From where the result is 1 to where it is 2 or e^(-1e10): by series, without end or with, and by
 * MPFR. */
static void erfc_is_within_its_bound(void **state)
{
    static const mpfr_prec_t bits[] = {2, 53, 64, 128, 192, 256, 500, 1100};
    for (size_t k = 0; k < sizeof bits / sizeof *bits; k++) {
        double worst = worst_of(ap_erfc, mpfr_erfc, "erfc", 140, erfc_power, bits[k]);
        assert_true(worst > 0 && worst <= 1.3);
    }
}

static void a_matrix_may_be_empty(void **state)
{
    ApMat m;
    ap_init(&m, 0, 7, 128);
    ap_zero(&m);
    ap_clear(&m);
}

SUBJECT(ap)
{
    const struct CMUnitTest ap[] = {
        cmocka_unit_test(dot_is_within_its_bound),
        cmocka_unit_test(exp_is_within_its_bound),
        cmocka_unit_test(exp_is_within_its_bound_at_every_size),
        cmocka_unit_test(exp_at_the_ends),
        cmocka_unit_test(expm1_is_within_its_bound),
        cmocka_unit_test(erfc_is_within_its_bound),
        cmocka_unit_test(a_matrix_may_be_empty),
    };
    return cmocka_run_group_tests(ap, reference_set_up, reference_tear_down);
}
