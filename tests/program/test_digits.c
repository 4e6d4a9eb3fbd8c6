/*
 * --digits: as many digits as are asked for are printed, and right; fewer take less precision; and
 * tables of different digits are not mixed.
 */
#include "../../reference/compare/cell.h"
#include "../fixture.h"
#include "../shell.h"
#include "../written_model.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Cells ----------------------------------------------------------------------------------- */

/* The cell of a value known to +-2^error. */
static void settle(RefCell *cell, const char *value, long error, int digits)
{
    mpfr_t v, e;
    ref_cell_init(cell, digits);
    mpfr_inits2(REF_CELL_BITS, v, e, (mpfr_ptr)0);
    assert_int_equal(mpfr_set_str(v, value, 10, MPFR_RNDN), 0);
    mpfr_set_ui_2exp(e, 1, error, MPFR_RNDN);
    cell_settle(cell, v, e);
    mpfr_clears(v, e, (mpfr_ptr)0);
}

/* Digits change halfway between two decimals: there an error of 2^-30 is too much for few digits as
 * for many.  1.23456 +- 2^-30 has the eight digits 1.2345600, and not nine. */
static void digits_decide_what_is_a_value(void **state)
{
    static const struct {
        const char *value;
        long error;
        int digits;
        CellState expected;
    } cells[] = {
        {"1.23456", -30, 8, CELL_VALUE},      {"1.23456", -30, 9, CELL_VALUE},
        {"1.23456", -30, 10, CELL_BOUND},     {"1.23456", -30, 17, CELL_BOUND},
        {"1.5", -30, 1, CELL_BOUND},          {"1.5", -30, 2, CELL_VALUE},
        {"1.0500000001", -30, 2, CELL_BOUND},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        RefCell cell;
        settle(&cell, cells[i].value, cells[i].error, cells[i].digits);
        if (cell.state != cells[i].expected) {
            fail_msg("%s to %d digits: state %d", cells[i].value, cells[i].digits, cell.state);
        }
        ref_cell_clear(&cell);
    }
}

/* A bound of what is there says how many bits would make it a value, one of noise does not:
 * 1 +- 2^-20 lacks 40 - 19 bits of 12 digits, and at least 16 where it lies where they change. */
static void bounds_say_what_they_lack(void **state)
{
    RefCell cell;
    settle(&cell, "1", -20, 12);
    assert_int_equal(cell.state, CELL_BOUND);
    assert_true(cell.lacking >= 40 - 20 && cell.lacking <= 40 - 20 + 20);
    ref_cell_clear(&cell);
    settle(&cell, "1.5", -100, 1);
    assert_int_equal(cell.state, CELL_BOUND);
    assert_true(cell.lacking >= 1 && cell.lacking <= 20);
    ref_cell_clear(&cell);
    settle(&cell, "1e-6", -20, 12);
    assert_int_equal(cell.state, CELL_BOUND);
    assert_true(cell.lacking == 0);
    ref_cell_clear(&cell);
}

/* Logarithms of errors of few digits show those, and no more: -13.6198, -3.6198, -0.357. */
static void logarithms_show_their_digits(void **state)
{
    static const struct {
        const char *size;
        int digits;
        const char *shown;
    } cases[] = {{"2.4e-14", 1, "-1.36000000000e+01"},  {"2.4e-14", 2, "-1.36000000000e+01"},
                 {"2.4e-14", 4, "-1.36200000000e+01"},  {"2.4e-4", 1, "-3.60000000000e+00"},
                 {"2.4e-4", 2, "-3.62000000000e+00"},   {"0.44", 1, "-4.00000000000e-01"},
                 {"2.4e-1739", 1, "-1.74000000000e+03"}};
    RefCell cell, derived;
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settle(&cell, cases[i].size, -6000, cases[i].digits);
        ref_cell_init(&derived, cases[i].digits);
        ref_cell_log10(&derived, &cell);
        assert_int_equal(derived.state, CELL_VALUE);
        ref_cell_printed(cell.value, &derived);
        mpfr_snprintf(text, sizeof text, "%.11Re", cell.value);
        assert_string_equal(text, cases[i].shown);
        ref_cell_clear(&derived);
        ref_cell_clear(&cell);
    }
}

/* log10(1.0001) = 4.34272768626...e-5, 2^-40 of whose argument is the ninth digit; and 3 times
 * 0.5 lies where one digit changes. */
static void derived_cells_are_settled_by_themselves(void **state)
{
    RefCell cell, derived;
    char text[64];
    settle(&cell, "1.0001", -40, 11);
    ref_cell_init(&derived, 11);
    assert_int_equal(cell.state, CELL_VALUE);
    ref_cell_log10(&derived, &cell);
    assert_int_equal(derived.state, CELL_BOUND);
    assert_true(derived.lacking > 0);
    cell.digits = 6;
    ref_cell_log10(&derived, &cell);
    assert_int_equal(derived.state, CELL_VALUE);
    ref_cell_printed(cell.value, &derived);
    mpfr_snprintf(text, sizeof text, "%.12Re", cell.value);
    assert_string_equal(text, "4.342730000000e-05");
    ref_cell_clear(&cell);
    settle(&cell, "3", -40, 1);
    assert_int_equal(cell.state, CELL_VALUE);
    ref_cell_scale(&derived, &cell, -1);
    assert_int_equal(derived.state, CELL_BOUND);
    ref_cell_scale(&derived, &cell, 1);
    assert_int_equal(derived.state, CELL_VALUE);
    assert_true(mpfr_cmp_ui(derived.value, 6) == 0);
    ref_cell_clear(&cell);
    ref_cell_clear(&derived);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

#define GRID                                                                                       \
    "sweep --construction all --n 5 --d 4 --heads 2 --depth 2 --omega 1,20 --mask none,causal "    \
    "--bias random --reference auto,subtract --quiet --digits "

/* text rounded to so many digits, as it is printed. */
static void round_text(char rounded[64], const char *text, int digits)
{
    mpfr_t value;
    mpfr_init2(value, REF_CELL_BITS);
    assert_int_equal(mpfr_set_str(value, text, 10, MPFR_RNDN), 0);
    mpfr_snprintf(rounded, 64, "%.*Re", digits - 1, value);
    mpfr_clear(value);
}

/* Every number of a few columns is the one of 17 digits, rounded (few enough that no five is
 * left over); and none is a bound but there. */
static size_t compare(const Output *all, const Output *few, int digits)
{
    static const char *const columns[] = {"construction_max",   "construction_rel", "rounding_max",
                                          "rounding_rms",       "native_rel",       "total_max",
                                          "construction_log10", "total_ulp",        "bias_row_max",
                                          "hidden_max",         "score_max",        "bounds"};
    char x[512], y[512], rounded[64];
    size_t compared = 0;
    assert_int_equal(lines(all), lines(few));
    for (size_t line = 1; line < lines(all); line++) {
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            cell(x, sizeof x, all, line, columns[c]);
            cell(y, sizeof y, few, line, columns[c]);
            bool decimal = strcmp(columns[c], "bounds") != 0 && strchr(x, 'e') != NULL;
            if (decimal) {
                bool log = strstr(columns[c], "_log10") != NULL;
                double size = fabs(strtod(x, NULL)); /* digits before its point are shown too */
                int whole = (size >= 1) + (size >= 10) + (size >= 100);
                int shown = digits + whole < 3 ? digits + whole : 3;
                round_text(rounded, x, log && shown > digits ? shown : digits);
            }
            assert_string_equal(y, decimal ? rounded : x);
            compared += decimal;
        }
        cell(x, sizeof x, all, line, "precision_bits");
        cell(y, sizeof y, few, line, "precision_bits");
        assert_true(atol(y) <= atol(x));
    }
    return compared;
}

static void fewer_digits_are_the_same_numbers(void **state)
{
    static const int digits[] = {1, 2, 4, 7, 12};
    Output all = expect_run(0, GRID "17");
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        Output few = expect_run(0, GRID "%d", digits[i]);
        assert_true(compare(&all, &few, digits[i]) > 500);
    }
}

/* 53 bits, 3.33 a digit, 28 and a few for the growth, rounded up to 64; the difference by itself
 * takes no 53. */
static void digits_say_the_precision(void **state)
{
    static const struct {
        const char *digits, *x, *e;
    } cases[] = {{"1", "128", "128"}, {"12", "128", "128"}, {"17", "192", "192"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Output output =
            expect_run(0, "sweep --n 4 --d 3 --omega 300 --quiet --digits %s", cases[i].digits);
        expect_cell(&output, 1, "precision_bits", cases[i].x);
        expect_cell(&output, 1, "difference_bits", cases[i].e);
    }
    Output output = run("sweep --n 4 --d 3 --omega 3 --quiet --reference subtract");
    expect_cell(&output, 1, "difference_bits", "");
    output = run("sweep --n 4 --d 3 --omega 3 --quiet --precision 320");
    expect_cell(&output, 1, "precision_bits", "320");
    expect_cell(&output, 1, "difference_bits", "320");
}

static const char linear[] =
    TENSOR("blocks.0.linear.W", "[1,1]", "0", "8") "," TENSOR("X", "[1,1]", "8", "16");

/* (1 + 2^-45)^2 on a machine lacks 2^-90, which is 8.07793566946e-28: less by far than what a
 * machine's error is provided for, so that the precision is raised for its digits. */
static void a_tiny_machine_error_has_its_digits(void **state)
{
    const Scratch *scratch = *state;
    const double data[2] = {1 + 0x1p-45, 1 + 0x1p-45};
    written_model(scratch, "square.safetensors", linear, data, 2);
    Output output = expect_run(
        0, "sweep --construction linear --weights %s/square.safetensors --omega 100 --quiet",
        scratch->directory);
    expect_cell(&output, 1, "native_max", "8.07793566946e-28");
    expect_cell(&output, 1, "precision_bits", "192");
    expect_cell(&output, 1, "difference_bits", "192");
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define SMALL "--construction silu,fused --n 3 --d 2 --omega 20 --quiet "

static void tables_are_not_mixed(void **state)
{
    expect_shell("$h sweep " SMALL "-o a.csv --digits 6; cat a.csv.json", 0, "\"digits\": 6,");
    expect_shell("$h sweep " SMALL "-o a.csv --digits 6 --resume", 0, "");
    expect_shell("$h sweep " SMALL "-o a.csv --resume", 2, "6 digits, this is 12");
    expect_shell("$h sweep " SMALL "-o s1.csv --shard 1/2", 0, "");
    expect_shell("$h sweep " SMALL "-o s2.csv --shard 2/2 --digits 9", 0, "");
    expect_shell("$h merge s1.csv s2.csv -o m.csv", 2, "of 9 digits, s1.csv of 12");
    expect_shell("$h sweep " SMALL "-o s2.csv --shard 2/2 --digits 12 && "
                 "$h merge s1.csv s2.csv -o m.csv && $h sweep " SMALL
                 "-o one.csv && cmp m.csv one.csv && cat m.csv.json",
                 0, "\"digits\": 12,");
}

#define NEAR "--construction silu --n 3 --d 2 --omega 8.5 --quiet --digits 2 --tolerance "

/* 1.283e-7 is within 1.29e-7, and the 1.3e-7 of the table says so, whoever reads it. */
static void a_verdict_is_not_rounded(void **state)
{
    expect_shell("$h sweep " NEAR "1.29e-7 -o a.csv --shard 1/1; cut -d, -f30 a.csv", 0, "1.3e-07");
    expect_shell("$h sweep " NEAR "1.29e-7 -o a.csv --shard 1/1 --resume", 0, "");
    expect_shell("$h merge a.csv -o m.csv", 0, "");
    expect_shell("$h check " NEAR "1.29e-7", 0, "PASS");
    expect_shell("$h check " NEAR "1.28e-7", 1, "FAIL: 1 of 1 rows, 1 findings");
}

/* Errors of a machine of all sizes: a logarithm of -13.6 has one digit as -1e+01. */
#define SIZES "--construction silu,fused --n 4 --d 3 --omega 20,100,1000,1e5 --quiet "

/* The smaller number of digits counts; with --exact all that both have. */
static void check_compares_what_both_have(void **state)
{
    static const char *const digits[] = {"1", "2", "6", "12", "17"};
    enum { DIGITS = sizeof digits / sizeof *digits };
    for (size_t a = 0; a < DIGITS; a++) {
        expect_output(
            shell("$h check " SIZES "--digits %s --save-baseline b%s.csv", digits[a], digits[a]), 0,
            "");
    }
    for (size_t a = 0; a < DIGITS * DIGITS; a++) {
        expect_output(shell("for e in --factor=4 \"--exact --factor 1\"; do $h check " SIZES
                            "--digits %s --baseline b%s.csv $e || exit 1; done",
                            digits[a / DIGITS], digits[a % DIGITS]),
                      0, "");
    }
}

SUBJECT(digits)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_decide_what_is_a_value),
        cmocka_unit_test(bounds_say_what_they_lack),
        cmocka_unit_test(logarithms_show_their_digits),
        cmocka_unit_test(derived_cells_are_settled_by_themselves),
        cmocka_unit_test(fewer_digits_are_the_same_numbers),
        cmocka_unit_test(digits_say_the_precision),
        SCRATCH_TEST(a_tiny_machine_error_has_its_digits),
        SHELL_TEST(tables_are_not_mixed),
        SHELL_TEST(a_verdict_is_not_rounded),
        SHELL_TEST(check_compares_what_both_have),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
