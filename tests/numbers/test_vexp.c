/*
 * exp of a vector against MPFR's at more bits.
 */
#include "../../cases/draw.h"
#include "../../reference/product/digits.h"
#include "../../reference/product/product.h"
#include "../../reference/product/vexp.h"
#include "../../reference/product/wide.h"
#include "../../reference/reference.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>

static const mpfr_prec_t precisions[] = {53,  64,  128, 152, 153,  156,  192,  204,
                                         205, 256, 260, 520, 257,  320,  512,  516,
                                         517, 776, 777, 900, 1024, 1036, 1037, 3000};
enum { PRECISIONS = sizeof precisions / sizeof *precisions, COUNT = 203, KINDS = 9 };

/* From here on all are 0 or numbers below 2^20: eight neighbours are done from memory to memory. */
enum { NEAR = 96 };

/* Arguments in groups of one kind, so that lanes differ in kind as well as in value. */
static void draw_argument(mpfr_ptr x, size_t i)
{
    double u = draw_uniform(11, draw_hash("x"), 0, i, 0), sign = i % 2 ? -1 : 1;
    long multiple = (long)(i / KINDS) * (i % 2 ? -1 : 1);
    mpfr_const_log2(x, MPFR_RNDN);
    if (i >= NEAR && i % KINDS == 2) {
        mpfr_set_zero(x, i % 2 ? -1 : 1);
        return;
    }
    if (i >= NEAR && i % KINDS == 6) {
        mpfr_set_si_2exp(x, i % 2 ? -1 : 1, i % 4 < 2 ? -100000 : -(1L << 40), MPFR_RNDN);
        return;
    }
    switch (i % KINDS) {
    case 0: mpfr_mul_d(x, x, sign * 60 * u, MPFR_RNDN); break;
    case 1: mpfr_mul_d(x, x, sign * ldexp(u, -(int)(600 * u)), MPFR_RNDN); break;
    case 2: mpfr_mul_d(x, x, sign * 0x1p20 * (0.9 + 0.5 * u), MPFR_RNDN); break;
    case 3: mpfr_mul_si(x, x, multiple, MPFR_RNDN); break;                /* n ln 2 */
    case 4: mpfr_set_d(x, sign * floor(512 * u) / 256, MPFR_RNDN); break; /* s = 0 */
    case 5:                                                               /* just below */
        mpfr_set_d(x, sign * floor(512 * u) / 256, MPFR_RNDN);
        mpfr_nextbelow(x);
        break;
    case 6: mpfr_set_d(x, sign * 0x1p20, MPFR_RNDN); break;
    case 7: mpfr_set_d(x, sign * (0x1p20 - 0x1p-33), MPFR_RNDN); break;
    default: mpfr_mul_d(x, x, sign * u * 0x1p10, MPFR_RNDN); break;
    }
}

/* |y - exp(x)| / exp(x) over 2^(1 - bits). */
static double ratio(mpfr_srcptr y, mpfr_srcptr x, mpfr_prec_t bits)
{
    mpfr_t exact;
    mpfr_init2(exact, bits + 64);
    mpfr_exp(exact, x, MPFR_RNDN);
    mpfr_div(exact, y, exact, MPFR_RNDN);
    mpfr_sub_ui(exact, exact, 1, MPFR_RNDA);
    mpfr_mul_2si(exact, exact, (long)bits - 1, MPFR_RNDN);
    double r = fabs(mpfr_get_d(exact, MPFR_RNDA));
    mpfr_clear(exact);
    return r;
}

static void check_precision(mpfr_prec_t bits, mpfr_prec_t of_x)
{
    ApMat x = {0}, y = {0}, alone = {0};
    ApExp *scalar = ap_exp_create(bits);
    VectorExp *context = vexp_create(bits, scalar);
    const mpfr_prec_t most = DIGIT * (mpfr_prec_t)wide()->exp_digits - 4;
    assert_int_equal(vexp_is_wide(context), bits <= most);
    ap_init(&x, 1, COUNT, of_x);
    ap_init(&y, 1, COUNT, bits);
    ap_init(&alone, 1, COUNT, bits);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < COUNT; i++) {
        draw_argument(ap_at(&x, 0, i), i);
    }
    vexp(context, y.entry, x.entry, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        double r = ratio(y.entry + i, x.entry + i, bits);
        where = r > worst || isnan(r) ? i : where;
        worst = r > worst || isnan(r) ? r : worst;
        vexp(context, alone.entry + i, x.entry + i, 1);
        assert_true(mpfr_equal_p(alone.entry + i, y.entry + i));
    }
    print_message("%4ld bits of %4ld, %s: worst error / bound %.3f (kind %zu)\n", (long)bits,
                  (long)of_x, vexp_is_wide(context) ? "lanes" : "ap_exp", worst, where % KINDS);
    assert_true(worst > 0 && worst <= 1);
    /* In place. */
    for (size_t i = 0; i < COUNT; i++) {
        mpfr_set(alone.entry + i, x.entry + i, MPFR_RNDN);
        vexp(context, y.entry + i, alone.entry + i, 1);
    }
    vexp(context, alone.entry, alone.entry, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(mpfr_equal_p(alone.entry + i, y.entry + i));
    }
    vexp_free(context);
    ap_exp_free(scalar);
    ap_clear(&x);
    ap_clear(&y);
    ap_clear(&alone);
}

static void exp_is_within_its_bound(void **state)
{
    for (size_t i = 0; i < PRECISIONS; i++) {
        check_precision(precisions[i], precisions[i] + 30);
    }
}

/* Whole limbs, of arguments as many as of results, fewer or more. */
static void rows_of_numbers_are_within_it(void **state)
{
    for (mpfr_prec_t bits = 64; bits <= 320; bits += 64) {
        for (mpfr_prec_t of_x = 64; of_x <= 320; of_x += 64) {
            check_precision(bits, of_x);
        }
    }
}

static void special_arguments_are_mpfrs(void **state)
{
    ApMat x = {0}, y = {0};
    mpfr_t expected;
    ApExp *scalar = ap_exp_create(128);
    VectorExp *context = vexp_create(128, scalar);
    ap_init(&x, 1, 9, 128);
    ap_init(&y, 1, 9, 128);
    mpfr_init2(expected, 128);
    mpfr_set_nan(ap_at(&x, 0, 0));
    mpfr_set_inf(ap_at(&x, 0, 1), 1);
    mpfr_set_inf(ap_at(&x, 0, 2), -1);
    mpfr_set_zero(ap_at(&x, 0, 3), -1);
    mpfr_set_si_2exp(ap_at(&x, 0, 4), -1, 100, MPFR_RNDN);
    mpfr_set_si_2exp(ap_at(&x, 0, 5), 1, 100, MPFR_RNDN);
    mpfr_set_si_2exp(ap_at(&x, 0, 6), -3, 50, MPFR_RNDN);
    mpfr_set_si_2exp(ap_at(&x, 0, 7), 1, -1000000, MPFR_RNDN);
    mpfr_set_zero(ap_at(&x, 0, 8), 1);
    vexp(context, y.entry, x.entry, 9);
    for (size_t i = 0; i < 9; i++) {
        mpfr_exp(expected, x.entry + i, MPFR_RNDN);
        assert_true(mpfr_nan_p(expected) ? mpfr_nan_p(y.entry + i)
                                         : mpfr_equal_p(expected, y.entry + i));
    }
    vexp(context, y.entry, x.entry, 0);
    mpfr_clear(expected);
    vexp_free(context);
    ap_exp_free(scalar);
    vexp_free(NULL);
    ap_clear(&x);
    ap_clear(&y);
}

SUBJECT(vexp)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_its_bound),
        cmocka_unit_test(rows_of_numbers_are_within_it),
        cmocka_unit_test(special_arguments_are_mpfrs),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
