/*
 * Rows of numbers, several at a time, against MPFR's numbers one by one, bit by bit: all counts of
 * limbs, signs and distances of exponents, ties, runs of ones and zeros, what cancels, and what is
 * no number.  And the exponentials that are made of them.
 */
#include "../drawn_numbers.h"
#include "../fixture.h"

#include "../../reference/evaluator/evaluator.h"
#include "../../reference/numbers/limbs.h"
#include "../../reference/product/lanes.h"
#include "../../reference/product/wide.h"
#include "../../reference/reference.h"
#include "../unit.h"

#include <float.h>
#include <gmp.h>
#include <math.h>
#include <stdio.h>

enum { COUNT = 37, ROUNDS = 60 };

/* Those of whole limbs, and two others. */
static const mpfr_prec_t precisions[] = {64, 128, 192, 256, 320, 384, 448, 53, 100};

enum { PRECISIONS = sizeof precisions / sizeof *precisions };

/* What entry i has to be; y: what it was. */
static void define(mpfr_ptr expected, LanesOperation operation, mpfr_srcptr a, mpfr_srcptr b,
                   mpfr_srcptr y)
{
    switch (operation) {
    case LANES_ADD: mpfr_add(expected, a, b, MPFR_RNDN); break;
    case LANES_SUB: mpfr_sub(expected, a, b, MPFR_RNDN); break;
    case LANES_MUL: mpfr_mul(expected, a, b, MPFR_RNDN); break;
    case LANES_DIV: mpfr_div(expected, a, b, MPFR_RNDN); break;
    case LANES_ADD_MUL:
        mpfr_mul(expected, a, b, MPFR_RNDN);
        mpfr_add(expected, y, expected, MPFR_RNDN);
        break;
    }
}

static void operate(LanesOperation operation, mpfr_ptr y, Numbers a, Numbers b, mpfr_ptr t)
{
    switch (operation) {
    case LANES_ADD: lanes_add(y, a, b, COUNT); break;
    case LANES_SUB: lanes_sub(y, a, b, COUNT); break;
    case LANES_MUL: lanes_mul(y, a, b, COUNT); break;
    case LANES_DIV: lanes_div(y, a, b, COUNT); break;
    case LANES_ADD_MUL: lanes_add_mul(y, a, b, COUNT, t); break;
    }
}

/* Rows of a test; expected has an entry and scratch. */
typedef struct {
    ApMat a, b, y, before, expected;
} Rows;

static void check_operation(const Rows *rows, LanesOperation operation, ApMat *y, Numbers a,
                            Numbers b)
{
    mpfr_ptr expected = rows->expected.entry;
    ApMat row_a = rows->a, row_b = rows->b;
    for (size_t i = 0; i < COUNT; i++) {
        mpfr_set(rows->before.entry + i, y->entry + i, MPFR_RNDN);
    }
    bool is_a = y->entry == a.first, is_b = y->entry == b.first;
    operate(operation, y->entry, a, b, expected + 1);
    for (size_t i = 0; i < COUNT; i++) {
        mpfr_srcptr before = rows->before.entry + i;
        mpfr_srcptr u = is_a ? before : row_a.entry + i * a.step;
        mpfr_srcptr v = is_b ? before : row_b.entry + i * b.step;
        define(expected, operation, u, v, before);
        if (!same_number(y->entry + i, expected)) {
            mpfr_printf("operation %d of %Ra and %Ra, entry %zu of precision %ld: %Ra, expected "
                        "%Ra\n",
                        (int)operation, u, v, i, (long)y->bits, y->entry + i, expected);
            fail();
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        mpfr_set(y->entry + i, rows->before.entry + i, MPFR_RNDN);
    }
}

/* Of rows, of a row and one number, of one and a row; into a row of its own, into a and into b. */
static void check_rows(const Rows *rows, LanesOperation operation)
{
    ApMat y = rows->y, a = rows->a, b = rows->b;
    Numbers each_a = numbers_row(a.entry), each_b = numbers_row(b.entry);
    check_operation(rows, operation, &y, each_a, each_b);
    check_operation(rows, operation, &y, numbers_same(a.entry), each_b);
    check_operation(rows, operation, &y, each_a, numbers_same(b.entry));
    if (operation != LANES_ADD_MUL && a.bits == y.bits) {
        check_operation(rows, operation, &a, each_a, each_b);
    }
    if (operation != LANES_ADD_MUL && b.bits == y.bits) {
        check_operation(rows, operation, &b, each_a, each_b);
    }
}

static void check_precisions(gmp_randstate_t random, const mpfr_prec_t *bits)
{
    Rows rows;
    ap_init(&rows.y, 1, COUNT, bits[0]);
    ap_init(&rows.expected, 1, 2, bits[0]);
    ap_init(&rows.before, 1, COUNT, bits[0]);
    ap_init(&rows.a, 1, COUNT, bits[1]);
    ap_init(&rows.b, 1, COUNT, bits[2]);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            draw_pair(rows.a.entry + i, rows.b.entry + i, random, round, i);
            draw_number(rows.y.entry + i, random, i % 2 == 0);
        }
        for (int operation = LANES_ADD; operation <= LANES_ADD_MUL; operation++) {
            check_rows(&rows, (LanesOperation)operation);
        }
    }
    ap_clear(&rows.a);
    ap_clear(&rows.b);
    ap_clear(&rows.y);
    ap_clear(&rows.before);
    ap_clear(&rows.expected);
}

static void all_are_mpfrs(void **state)
{
    each_precisions(check_precisions, precisions, PRECISIONS);
}

/* Doubles of all sizes, and 0, added to rows of any length. */
static void doubles_are_added_as_mpfr_adds_them(void **state)
{
    gmp_randstate_t random;
    gmp_randinit_default(random);
    gmp_randseed_ui(random, 3);
    for (size_t p = 0; p < PRECISIONS; p++) {
        ApMat y, expected;
        double d[COUNT];
        ap_init(&y, 1, COUNT, precisions[p]);
        ap_init(&expected, 1, COUNT, precisions[p]);
        for (size_t count = 0; count <= COUNT; count++) {
            for (size_t i = 0; i < COUNT; i++) {
                draw_number(y.entry + i, random, i % 2 == 0);
                d[i] = ldexp(mpfr_get_d(y.entry + i, MPFR_RNDN), (int)(i * 10) - 180);
                d[i] = i % 7 == 3 ? 0 : i % 5 == 2 ? -d[i] : d[i];
                mpfr_set(expected.entry + i, y.entry + i, MPFR_RNDN);
            }
            lanes_add_doubles(y.entry, d, count);
            for (size_t i = 0; i < COUNT; i++) {
                if (i < count) {
                    mpfr_add_d(expected.entry + i, expected.entry + i, d[i], MPFR_RNDN);
                }
                assert_true(same_number(y.entry + i, expected.entry + i));
            }
        }
        ap_clear(&y);
        ap_clear(&expected);
    }
    gmp_randclear(random);
}

/* What the sum of a row has to be: its first half plus its second, until one is left. */
static void define_sum(mpfr_ptr sum, const ApMat *a, size_t count)
{
    ApMat x;
    ap_init(&x, 1, COUNT, mpfr_get_prec(sum));
    for (const __mpfr_struct *from = a->entry; count > 1; from = x.entry) {
        size_t pairs = count / 2, half = count - pairs;
        for (size_t i = 0; i < half; i++) {
            if (i < pairs) {
                mpfr_add(x.entry + i, from + i, from + half + i, MPFR_RNDN);
            } else {
                mpfr_set(x.entry + i, from + i, MPFR_RNDN);
            }
        }
        count = half;
        mpfr_set(sum, x.entry, MPFR_RNDN);
    }
    ap_clear(&x);
}

/* Of rows of any length; of the precisions of sums and rows. */
static void check_sums(gmp_randstate_t random, const mpfr_prec_t *bits)
{
    ApMat a, t, y;
    ap_init(&a, 1, COUNT, bits[1]);
    ap_init(&t, 1, COUNT, bits[0]);
    ap_init(&y, 1, 2, bits[0]);
    for (size_t count = 0; count <= COUNT; count++) {
        for (size_t i = 0; i < count; i++) {
            draw_pair(a.entry + i, t.entry + i, random, count, i);
            if (count % 5 == 3 && i % 11 == 3) {
                draw_special(a.entry + i, count);
            }
        }
        mpfr_set_zero(y.entry, 1);
        if (count == 1) {
            mpfr_set(y.entry, a.entry, MPFR_RNDN);
        }
        define_sum(y.entry, &a, count);
        lanes_sum(y.entry + 1, a.entry, count, t.entry);
        assert_true(same_number(y.entry + 1, y.entry));
    }
    ap_clear(&a);
    ap_clear(&t);
    ap_clear(&y);
}

/* The same of copies and of zeros, beside which nothing changes. */
static void check_copies(gmp_randstate_t random, const mpfr_prec_t *bits)
{
    ApMat a, y, expected;
    ap_init(&a, 1, COUNT, bits[1]);
    ap_init(&y, 1, COUNT, bits[0]);
    ap_init(&expected, 1, 1, bits[0]);
    for (size_t count = 0; count < COUNT; count++) {
        mpfr_set_ui(y.entry + count, 7, MPFR_RNDN);
        for (size_t i = 0; i < COUNT; i++) {
            draw_number(a.entry + i, random, i % 3 == 0);
            if (i % 7 == 3) {
                draw_special(a.entry + i, i);
            }
        }
        lanes_set(y.entry, a.entry, count);
        for (size_t i = 0; i < count; i++) {
            mpfr_set(expected.entry, a.entry + i, MPFR_RNDN);
            assert_true(same_number(y.entry + i, expected.entry));
        }
        lanes_zero(y.entry, count);
        assert_true(numbers_are_zero(y.entry, count));
        assert_true(mpfr_cmp_ui(y.entry + count, 7) == 0);
    }
    ap_clear(&a);
    ap_clear(&y);
    ap_clear(&expected);
}

static void sums_and_copies_are_mpfrs(void **state)
{
    each_precisions(check_sums, precisions, PRECISIONS);
    each_precisions(check_copies, precisions, PRECISIONS);
}

/* A sum in place is the same, and within count - 1 roundings of the exact one. */
static void sums_are_within_their_roundings(void **state)
{
    gmp_randstate_t random;
    mpfr_t exact, sizes, sum;
    ApMat a, t;
    gmp_randinit_default(random);
    gmp_randseed_ui(random, 5);
    mpfr_inits2(2000, exact, sizes, (mpfr_ptr)0);
    mpfr_init2(sum, 128);
    ap_init(&a, 1, COUNT, 128);
    ap_init(&t, 1, COUNT, 128);
    for (size_t count = 1; count <= COUNT; count++) {
        mpfr_set_zero(exact, 1);
        mpfr_set_zero(sizes, 1);
        for (size_t i = 0; i < count; i++) {
            draw_number(a.entry + i, random, i % 3 == 0);
            mpfr_add(exact, exact, a.entry + i, MPFR_RNDN);
            mpfr_abs(t.entry, a.entry + i, MPFR_RNDN);
            mpfr_add(sizes, sizes, t.entry, MPFR_RNDN);
        }
        lanes_sum(sum, a.entry, count, t.entry);
        lanes_sum(a.entry + COUNT - 1, a.entry, count, a.entry);
        assert_true(same_number(sum, a.entry + COUNT - 1));
        mpfr_sub(exact, exact, sum, MPFR_RNDN);
        mpfr_mul_ui(sizes, sizes, count - 1, MPFR_RNDN);
        mpfr_mul_2si(sizes, sizes, -128, MPFR_RNDN);
        assert_true(mpfr_cmpabs(exact, sizes) <= 0);
    }
    ap_clear(&a);
    ap_clear(&t);
    mpfr_clears(exact, sizes, sum, (mpfr_ptr)0);
    gmp_randclear(random);
}

/* ---- One number ------------------------------------------------------------------------------ */

/* What is done of a number or two by themselves; their sums, products and quotients are what rows
 * have without vectors. */
static void check_single(gmp_randstate_t random, const mpfr_prec_t *bits)
{
    mpfr_t y, expected, a, b;
    mpfr_inits2(bits[0], y, expected, (mpfr_ptr)0);
    mpfr_init2(a, bits[1]);
    mpfr_init2(b, bits[2]);
    for (size_t i = 0; i < (size_t)ROUNDS * 7; i++) {
        draw_pair(a, b, random, i / COUNT, i % COUNT);
        mpfr_set(expected, a, MPFR_RNDN);
        limbs_set(y, a);
        assert_true(same_number(y, expected));
        mpfr_setsign(expected, a, 1, MPFR_RNDN);
        limbs_below_zero(y, a);
        assert_true(same_number(y, expected));
        assert_int_equal(limbs_greater(a, b), mpfr_cmp(a, b) > 0);
        assert_int_equal(limbs_greater(b, a), mpfr_cmp(b, a) > 0);
    }
    mpfr_clears(y, expected, a, b, (mpfr_ptr)0);
}

static void numbers_alone_are_mpfrs(void **state)
{
    each_precisions(check_single, precisions, PRECISIONS);
}

/* 2^p - 1 and 2 + 2^-64: the sum carries into a bit more, and one that is lost below the limb that
 * rounds it is all that tells it from a tie.  Of rows, and of a number alone. */
static void carries_keep_what_is_lost(void **state)
{
    for (size_t p = 0; precisions[p] % 64 == 0; p++) {
        ApMat a, b, y;
        mpfr_t expected;
        ap_init(&a, 1, COUNT, precisions[p]);
        ap_init(&b, 1, COUNT, 128);
        ap_init(&y, 1, COUNT, precisions[p]);
        mpfr_init2(expected, precisions[p]);
        for (size_t i = 0; i < COUNT; i++) {
            mpfr_set_ui_2exp(ap_at(&a, 0, i), 1, precisions[p], MPFR_RNDN);
            mpfr_nextbelow(ap_at(&a, 0, i));
            mpfr_set_d(ap_at(&b, 0, i), 0x1p-64, MPFR_RNDN);
            mpfr_add_ui(ap_at(&b, 0, i), ap_at(&b, 0, i), 2, MPFR_RNDN);
        }
        mpfr_add(expected, a.entry, b.entry, MPFR_RNDN);
        lanes_add(y.entry, numbers_row(a.entry), numbers_row(b.entry), COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(same_number(y.entry + i, expected));
        }
        limbs_add(y.entry, a.entry, b.entry);
        assert_true(same_number(y.entry, expected));
        ap_clear(&a);
        ap_clear(&b);
        ap_clear(&y);
        mpfr_clear(expected);
    }
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

/* ---- Vectors --------------------------------------------------------------------------------- */

static size_t left_over;

static void count_rest(const LanesRow *row, size_t first, size_t count)
{
    (void)row, (void)first;
    left_over += count;
}

/* Of rows of plain numbers and zeros nothing is done one by one; where the very last is neither,
 * what no other vector has, the remainder. */
static void vectors_are_done_at_once(void **state)
{
    ApMat a, y;
    if (wide()->rows == NULL) {
        skip();
    }
    for (mpfr_prec_t bits = 128; bits <= 384; bits += 64) {
        const mpfr_exp_t far = -((mpfr_exp_t)1 << 42); /* such as e is of in a plan */
        ap_init(&a, 1, COUNT + 10, bits);
        ap_init(&y, 1, COUNT, bits);
        for (size_t i = 0; i < COUNT + 10; i++) {
            mpfr_set_ui_2exp(a.entry + i, i + 1, i % 2 == 0 ? far : 0, MPFR_RNDN);
            mpfr_set_ui(y.entry + i % COUNT, 1, MPFR_RNDN);
        }
        mpfr_set_zero(a.entry + 5, 1);
        mpfr_set_zero(y.entry + 7, 1);
        for (int operation = LANES_ADD; operation <= LANES_ADD_MUL; operation++) {
            LanesRow row = {(LanesOperation)operation, y.entry, numbers_row(a.entry),
                            numbers_same(a.entry + COUNT - 1), NULL};
            left_over = 0;
            assert_true(wide()->rows(&row, COUNT, count_rest));
            assert_int_equal(left_over, 0);
            row.b = numbers_row(a.entry + 10);
            draw_special(a.entry + 10 + COUNT - 1, 2);
            assert_true(wide()->rows(&row, COUNT, count_rest));
            assert_int_equal(left_over, COUNT % wide()->lanes);
        }
        ap_clear(&a);
        ap_clear(&y);
    }
}

/* x of entry i of a row: zeros, numbers of few bits and of many, from 2^-600 to 2^6. */
static void draw_exponent(mpfr_ptr x, gmp_randstate_t random, size_t row, size_t i)
{
    const unsigned long reach[] = {600, 90, 40, 20};
    draw_number(x, random, i % 2 == 0);
    mpfr_mul_2si(x, x, -5 - (long)gmp_urandomm_ui(random, reach[row % 4]), MPFR_RNDN);
    if (row % 3 == 1) {
        mpfr_mul_2si(x, x, -(long)reach[row % 4], MPFR_RNDN);
    }
    if (i % 13 == 5) {
        mpfr_set_zero(x, 1);
    } else if (row % 5 == 4 && i % 11 == 7) {
        mpfr_mul_2si(x, x, 11 - mpfr_get_exp(x) - 5, MPFR_RNDN);
    }
}

/* |y - exact| in units of 2^-bits |exact|; infinite where one is 0 alone. */
static double units_off(mpfr_srcptr y, mpfr_srcptr exact, mpfr_prec_t bits)
{
    mpfr_t off;
    mpfr_init2(off, 64);
    mpfr_sub(off, y, exact, MPFR_RNDA);
    mpfr_div(off, off, exact, MPFR_RNDA);
    double units = mpfr_zero_p(exact) ? (mpfr_zero_p(y) ? 0 : INFINITY)
                                      : fabs(ldexp(mpfr_get_d(off, MPFR_RNDA), (int)bits));
    mpfr_clear(off);
    return units;
}

/* expm1 within 4 units and exp within 6, however small x is, in place or not. */
static void exponentials_of_rows_are_within_their_bounds(void **state)
{
    const mpfr_prec_t bits[] = {64, 100, 128, 192, 256};
    gmp_randstate_t random;
    mpfr_t exact;
    double most = 0;
    gmp_randinit_default(random);
    gmp_randseed_ui(random, 2);
    mpfr_init2(exact, 1100);
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
        Evaluator ev;
        ApMat x, m, g;
        evaluator_init(&ev, (EvaluatorShape){1, 1}, bits[b], INFINITY);
        ap_init(&x, 1, COUNT, bits[b]);
        ap_init(&m, 1, COUNT, bits[b]);
        ap_init(&g, 1, COUNT, bits[b]);
        for (size_t row = 0; row < ROUNDS; row++) {
            for (size_t i = 0; i < COUNT; i++) {
                draw_exponent(x.entry + i, random, row, i);
                mpfr_set(g.entry + i, x.entry + i, MPFR_RNDN);
            }
            evaluator_exponentials(&ev.worker[0], m.entry, g.entry,
                                   row % 2 == 0 ? g.entry : x.entry, COUNT);
            for (size_t i = 0; i < COUNT; i++) {
                mpfr_expm1(exact, x.entry + i, MPFR_RNDN);
                double off = units_off(m.entry + i, exact, bits[b]);
                most = fmax(most, off);
                mpfr_exp(exact, x.entry + i, MPFR_RNDN);
                assert_true(off <= 4 && units_off(g.entry + i, exact, bits[b]) <= 6);
            }
        }
        ap_clear(&x);
        ap_clear(&m);
        ap_clear(&g);
        evaluator_clear(&ev);
    }
    printf("expm1: at most %.3f units\n", most);
    mpfr_clear(exact);
    gmp_randclear(random);
}

SUBJECT(lanes)
{
    ref_thread_setup(); /* exponents as wide as the reference has them */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_mpfrs),
        cmocka_unit_test(doubles_are_added_as_mpfr_adds_them),
        cmocka_unit_test(sums_and_copies_are_mpfrs),
        cmocka_unit_test(sums_are_within_their_roundings),
        cmocka_unit_test(numbers_alone_are_mpfrs),
        cmocka_unit_test(carries_keep_what_is_lost),
        cmocka_unit_test(doubles_are_mpfrs),
        cmocka_unit_test(vectors_are_done_at_once),
        cmocka_unit_test(exponentials_of_rows_are_within_their_bounds),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
