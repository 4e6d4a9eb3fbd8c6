/*
 * The largest entry and the root of the sum of squares that every error is, against sums of exact
 * squares of integers: in rows of all lengths, at all exponents, rising and falling, and with what
 * is no number.
 */
#include "../fixture.h"

#include "../../reference/compare/error_norms.h"
#include "../../reference/product/lanes.h"
#include "../unit.h"

#include <gmp.h>

enum { ROWS = 9 };

/* Exponents of rows: next to each other, rising by more bits than sums have, falling, and such
 * whose squares no MPFR number can hold. */
static const mpfr_exp_t exponents[][ROWS] = {
    {0, 1, -1, 2, 0, 3, -2, 0, 5},
    {-900, -600, -590, -200, 0, 100, 101, 99, 400},
    {400, 0, -3, -400, 100, 0, 390, -1, 395},
    {(mpfr_exp_t)1 << 61, ((mpfr_exp_t)1 << 61) + 40, ((mpfr_exp_t)1 << 61) - 3},
    {-((mpfr_exp_t)1 << 61), -((mpfr_exp_t)1 << 61) - 900, -((mpfr_exp_t)1 << 61) + 7},
};

enum { CASES = sizeof exponents / sizeof *exponents };

/* sum += (factor 2^exponent)^2, exactly, in units of 2^(2 least). */
static void add_square(mpz_t sum, long factor, mpfr_exp_t exponent, mpfr_exp_t least)
{
    mpz_t square;
    mpz_init_set_si(square, factor);
    mpz_mul(square, square, square);
    mpz_mul_2exp(square, square, (mp_bitcnt_t)(2 * (exponent - least)));
    mpz_add(sum, sum, square);
    mpz_clear(square);
}

/* root = sqrt(sum / count) 2^least */
static void exact_root(mpfr_ptr root, const mpz_t sum, mpfr_exp_t least, unsigned long count)
{
    mpfr_set_z(root, sum, MPFR_RNDN);
    mpfr_div_ui(root, root, count, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_mul_2si(root, root, (long)least, MPFR_RNDN);
}

static bool within(mpfr_srcptr y, mpfr_srcptr exact, long bits)
{
    mpfr_t off, most;
    mpfr_inits2(4096, off, most, (mpfr_ptr)0);
    mpfr_sub(off, y, exact, MPFR_RNDN);
    mpfr_mul_2si(most, exact, -bits, MPFR_RNDN);
    bool is = mpfr_cmpabs(off, most) <= 0;
    mpfr_clears(off, most, (mpfr_ptr)0);
    return is;
}

/* Rows of `columns` entries +-(1 ... ) 2^exponent, of so many bits. */
static void check_case(const mpfr_exp_t *exponent, size_t columns, mpfr_prec_t bits)
{
    Norms norms;
    mpz_t sum;
    mpfr_t exact, most, d, root;
    mpfr_exp_t least = exponent[0];
    unsigned long count = 0;
    size_t rows = exponent[ROWS - 1] != 0 ? ROWS : 3;
    mpz_init(sum);
    mpfr_inits2(4096, exact, most, d, (mpfr_ptr)0);
    mpfr_init2(root, REF_CELL_BITS);
    mpfr_set_zero(most, 1);
    norms_init(&norms, bits);
    for (size_t i = 0; i < rows; i++) {
        least = exponent[i] < least ? exponent[i] : least;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < columns; c++) {
            long factor = (c + i) % 7 == 3 ? 0 : (long)(c * c + 3 * i) - 40;
            mpfr_set_si_2exp(norms.d + c, factor, exponent[i], MPFR_RNDN);
            add_square(sum, factor, exponent[i], least);
            mpfr_abs(d, norms.d + c, MPFR_RNDN);
            mpfr_max(most, most, d, MPFR_RNDN);
            count++;
        }
        norms_add(&norms, columns);
    }
    exact_root(exact, sum, least, count);
    norms_root(root, &norms, count);
    assert_true(mpfr_equal_p(norms.max, most));
    assert_true(within(root, exact, 170));
    norms_clear(&norms);
    mpfr_clears(exact, most, d, root, (mpfr_ptr)0);
    mpz_clear(sum);
}

static void norms_are_those_of_integers(void **state)
{
    const size_t columns[] = {1, 2, 7, 8, 9, 33, NORMS_COLUMNS - 1, NORMS_COLUMNS};
    const mpfr_prec_t bits[] = {128, 192, 256, 320, 1000};
    ref_thread_setup();
    for (size_t k = 0; k < CASES; k++) {
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
                check_case(exponents[k], columns[c], bits[b]);
            }
        }
    }
}

/* Zeros have norms 0; a NaN or an infinity in any place stays, whatever comes after it. */
static void what_is_no_number_stays(void **state)
{
    ref_thread_setup();
    for (size_t at = 0; at < NORMS_COLUMNS; at += 5) {
        for (int infinite = 0; infinite < 2; infinite++) {
            Norms norms;
            mpfr_t root;
            mpfr_init2(root, REF_CELL_BITS);
            norms_init(&norms, 192);
            lanes_zero(norms.d, NORMS_COLUMNS);
            norms_add(&norms, NORMS_COLUMNS);
            norms_root(root, &norms, 1);
            assert_true(mpfr_zero_p(norms.max) && mpfr_zero_p(root));
            lanes_zero(norms.d, NORMS_COLUMNS);
            if (infinite != 0) {
                mpfr_set_inf(norms.d + at, 1);
            } else {
                mpfr_set_nan(norms.d + at);
            }
            norms_add(&norms, NORMS_COLUMNS);
            for (size_t c = 0; c < NORMS_COLUMNS; c++) {
                mpfr_set_ui(norms.d + c, 3, MPFR_RNDN);
            }
            norms_add(&norms, NORMS_COLUMNS);
            norms_root(root, &norms, 1);
            assert_true(mpfr_nan_p(norms.max) && !mpfr_number_p(root));
            norms_clear(&norms);
            mpfr_clear(root);
        }
    }
}

/* The largest entry of a block, wherever it is; NaN if one is. */
static void blocks_have_their_largest(void **state)
{
    enum { SIDE = 5 };
    ApMat m;
    mpfr_t max;
    mpfr_init2(max, REF_CELL_BITS);
    ap_init(&m, SIDE, SIDE, 128);
    for (size_t k = 0; k < SIDE * SIDE; k++) {
        size_t row = k / SIDE, column = k % SIDE;
        for (size_t i = 0; i < SIDE * SIDE; i++) {
            mpfr_set_si_2exp(m.entry + i, i % 2 == 0 ? 5 : -5, (mpfr_exp_t)(i % 3) - 7, MPFR_RNDN);
        }
        mpfr_set_si(m.entry + k, k % 2 == 0 ? 9 : -9, MPFR_RNDN);
        norms_block_max(max, &m, 1, 3, (Columns){2, 2});
        bool inside = row >= 1 && row < 4 && column >= 2 && column < 4;
        assert_true((mpfr_cmp_ui(max, 9) == 0) == inside);
        mpfr_set_nan(m.entry + k);
        norms_block_max(max, &m, 1, 3, (Columns){2, 2});
        assert_true((mpfr_nan_p(max) != 0) == inside);
    }
    ap_clear(&m);
    mpfr_clear(max);
}

SUBJECT(error_norms)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_are_those_of_integers),
        cmocka_unit_test(what_is_no_number_stays),
        cmocka_unit_test(blocks_have_their_largest),
    };
    return cmocka_run_group_tests_name("error_norms", tests, NULL, NULL);
}
