/*
 * The rules of the regression verdict for cells, each with a violation planted in one of two equal
 * tables.
 */
#include "../../harness/table/columns.h"
#include "../check_fixture.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reference columns ----------------------------------------------------------------------- */

/* text with its significant digit number `digit` (from 1) moved by one. */
static void move_digit(char *moved, const char *text, int digit)
{
    strcpy(moved, text);
    char *c = moved + strcspn(moved, "123456789");
    for (int seen = 1; seen < digit; c++) {
        seen += c[1] != '.';
    }
    while (*c == '.') {
        c++;
    }
    *c = *c == '9' ? '8' : (char)(*c + 1);
}

static void twelve_digits_count_and_no_more(void **state)
{
    static const char *const columns[] = {"construction_max", "construction_rms",
                                          "construction_rel", "construction_log10"};
    CheckFixture *f = *state;
    char moved[64];
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (int digit = 1; digit <= 17; digit++) {
            move_digit(moved, text_at(&f->check.baseline, SILU_HUGE, columns[c]), digit);
            set_text(&f->check.obtained, SILU_HUGE, columns[c], moved);
            if (digit <= 12) {
                expect_finding(f, SILU_HUGE, columns[c], "differs");
                assert_true(f->check.findings[0].excess >= 0.999);
            } else {
                assert_true(judge(f));
            }
            again(f);
        }
    }
}

static void exact_counts_all_seventeen(void **state)
{
    CheckFixture *f = *state;
    char moved[64];
    for (int digit = 1; digit <= 17; digit++) {
        move_digit(moved, text_at(&f->check.baseline, ATTENTION, "score_max"), digit);
        f->run.check.exact = true;
        set_text(&f->check.baseline, ATTENTION, "score_max", moved);
        expect_finding(f, ATTENTION, "score_max", "differs");
        again(f);
    }
    f->run.check.exact = true;
    assert_true(judge(f));
}

static const struct {
    const char *obtained, *baseline;
    const char *reason; /* NULL: passes */
} decimals[] = {
    {"6.3000000000000000e-868", "6.3000000000000000e-868", NULL},
    {"6.3000000000000000e-868", "6.4000000000000000e-868", "differs"},
    {"6.3000000000000000e-868", "6.3000000000000000e-869", "differs"},
    {"-6.3000000000000000e-868", "6.3000000000000000e-868", "differs"},
    {"1.0000000000000000e-05", "9.9999999999999999e-06", NULL},
    {"9.9999999999999999e-06", "1.0000000000000000e-05", NULL},
    {"1.0000000000000000e-05", "9.9999999999800000e-06", "differs"},
    {"9.9999999999800000e-06", "1.0000000000000000e-05", NULL},
    {"1.0000000000100000e-05", "1.0000000000000000e-05", "differs"},
    {"1.0000000000099999e-05", "1.0000000000000000e-05", NULL},
    {"9.9999999998000000e-06", "1.0000000000000000e-05", "differs"},
    {"0.00001", "1e-5", NULL},
    {"123", "1.23e2", NULL},
    {"1e-400", "0", "not 0 any more"},
    {"0", "1e-400", "0 where the baseline has a value"},
    {"0", "1e-100000", "0 where the baseline has a value"},
    {"0", "0", NULL},
    {"0", "0.0000000000000000e+00", "a zero that is not proven"},
    {"0e0", "0", "a zero that is not proven"},
    {"-0", "0", "a zero that is not proven"},
    {"0.0", "0.0", "a zero that is not proven"},
    {"0.0", "1e-400", "a zero that is not proven"},
    {"nan", "nan", "not a number"},
    {"nan", "0", "not a number"},
    {"inf", "inf", "not a number"},
    {"-inf", "1", "not a number"},
    {"0", "nan", "not a number in the baseline"},
    {"1e-5", "nan", "not a number in the baseline"},
    {"1e-5", "inf", "not a number in the baseline"},
    {"", "1e-5", "blank, and not in the baseline"},
    {"1e-5", "", "blank in the baseline"},
    {"", "nan", "not a number in the baseline"},
    {"", "", NULL},
};

static void decimals_are_compared_and_not_doubles(void **state)
{
    for (size_t i = 0; i < sizeof decimals / sizeof *decimals; i++) {
        expect_cells(*state, SILU_GOOD, "construction_max", decimals[i].obtained,
                     decimals[i].baseline, decimals[i].reason);
    }
}

static void every_column_of_numbers_has_a_rule_that_bites(void **state)
{
    CheckFixture *f = *state;
    size_t columns = f->check.obtained.columns, tried = 0;
    for (size_t c = 0; c < columns; c++) {
        const char *name = csv_name(&f->check.obtained, c);
        if (column_kind(name) == COLUMN_KEY || strcmp(name, "status") == 0 ||
            strcmp(name, "bounds") == 0) {
            continue;
        }
        assert_true(column_kind(name) != COLUMN_UNKNOWN);
        if (strcmp(name, "precision_bits") != 0 && strcmp(name, "difference_bits") != 0) {
            expect_cells(f, ATTENTION, name, NULL, "nan", "not a number in the baseline");
            name = csv_name(&f->check.obtained, c);
            expect_cells(f, ATTENTION, name, "inf", NULL, "not a number");
            tried++;
        }
    }
    assert_int_equal(tried, 18 + 2 + 6 + 1 + 3);
}

/* ---- Machine columns ------------------------------------------------------------------------- */

/* The obtained cell times `by`, plus `more`, as text. */
static const char *changed(const CheckFixture *f, const char *column, double by, double more)
{
    static char text[64];
    double value = number_of(text_at(&f->check.obtained, SILU_HUGE, column));
    snprintf(text, sizeof text, "%.16e", value * by + more);
    return text;
}

/* 4.1 times, or that as a sum of logarithms, exceeds a factor of 4 by as much. */
static void expect_excess(CheckFixture *f, const char *column, const char *baseline)
{
    set_text(&f->check.baseline, SILU_HUGE, column, baseline);
    expect_finding(f, SILU_HUGE, column, "above its limit");
    assert_true(fabs(f->check.findings[0].excess - 4.1 / 4) < 1e-6);
    again(f);
}

/* Omega = 1e6: rounding is thousands of units, far above any floor. */
static void machine_errors_grow_by_the_factor_at_most(void **state)
{
    static const char *const columns[] = {
        "rounding_max", "rounding_rms", "rounding_rel", "total_max",    "total_rms", "total_rel",
        "observed_max", "observed_rms", "observed_rel", "rounding_ulp", "total_ulp"};
    CheckFixture *f = *state;
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const char *c = columns[k];
        assert_true(number_of(text_at(&f->check.obtained, SILU_HUGE, c)) > 0);
        expect_cells(f, SILU_HUGE, c, NULL, changed(f, c, 1 / 3.9, 0), NULL);
        expect_excess(f, c, changed(f, c, 1 / 4.1, 0));
        f->run.check.factor = 5;
        expect_cells(f, SILU_HUGE, c, NULL, changed(f, c, 1 / 4.1, 0), NULL);
        f->run.check.factor = 1.1;
        expect_cells(f, SILU_HUGE, c, NULL, changed(f, c, 1 / 1.2, 0), "above its limit");
        expect_cells(f, SILU_HUGE, c, NULL, changed(f, c, 1000, 0), NULL); /* it was worse */
    }
}

/* The same of a logarithm, in which a factor is a sum, and no error is a blank. */
static void logarithms_are_compared_as_their_errors(void **state)
{
    static const char *const columns[] = {"rounding_log10", "total_log10", "observed_log10"};
    CheckFixture *f = *state;
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        const char *c = columns[k];
        expect_cells(f, SILU_HUGE, c, NULL, changed(f, c, 1, -log10(3.9)), NULL);
        expect_excess(f, c, changed(f, c, 1, -log10(4.1)));
        expect_cells(f, SILU_HUGE, c, NULL, changed(f, c, 1, 3), NULL); /* it was worse */
        set_text(&f->check.baseline, SILU_HUGE, "native_log10", "");
        set_text(&f->check.obtained, SILU_HUGE, "native_log10", "");
        expect_cells(f, SILU_HUGE, c, NULL, "", "above its limit");
        expect_cells(f, SILU_HUGE, c, "", NULL,
                     "0 where the baseline was far above the machine's own rounding");
    }
}

/* The floor, 4u of the result's root mean square, from what the table says of it. */
static void the_floor_is_four_units_of_the_result(void **state)
{
    static const char *const columns[] = {"native_max", "native_rms", "native_rel"};
    CheckFixture *f = *state;
    double rms = number_of(text_at(&f->check.obtained, SILU, "total_rms")) /
                 number_of(text_at(&f->check.obtained, SILU, "total_rel"));
    char below[64], above[64];
    for (size_t c = 0; c < 3; c++) {
        double floor = 4 * 0x1p-53 * (c == 2 ? 1 : rms);
        snprintf(below, sizeof below, "%.16e", floor * 0.999);
        snprintf(above, sizeof above, "%.16e", floor * 1.001);
        expect_cells(f, SILU, columns[c], below, "1e-40", NULL);
        expect_cells(f, SILU, columns[c], above, "1e-40", "above its limit");
    }
    expect_cells(f, SILU, "rounding_ulp", "0.999", "1e-40", NULL);
    expect_cells(f, SILU, "rounding_ulp", "1.001", "1e-40", "above its limit");
}

#define VANISHED "0 where the baseline was far above the machine's own rounding"

static void what_was_far_above_the_floor_does_not_vanish(void **state)
{
    CheckFixture *f = *state;
    expect_cells(f, SILU_HUGE, "rounding_max", "0", NULL, VANISHED);
    expect_cells(f, SILU_GOOD, "native_max", "0", NULL, NULL); /* an ulp may */
    expect_cells(f, SILU_HUGE, "rounding_max", "-1e-3", NULL, "above its limit");
}

/* Of another machine's streams that agree nothing follows. */
static void observed_errors_vanish_by_chance(void **state)
{
    CheckFixture *f = *state;
    expect_cells(f, SILU_HUGE, "observed_max", "0", NULL, VANISHED);
    f->check.other_machine = true;
    expect_cells(f, SILU_HUGE, "observed_max", "0", NULL, NULL);
    /* And may be what the original loses. */
    f->check.other_machine = false;
    set_text(&f->check.baseline, ATTENTION, "native_max", "1e-10");
    expect_cells(f, ATTENTION, "observed_max", "3.9e-10", "0", NULL);
    set_text(&f->check.baseline, ATTENTION, "native_max", "1e-10");
    expect_cells(f, ATTENTION, "observed_max", "4.1e-10", "0", "above its limit");
}

static void bit_equality_is_a_share_of_one_machine(void **state)
{
    CheckFixture *f = *state;
    expect_cells(f, ATTENTION, "identical", "0.26", "1", NULL);
    expect_cells(f, ATTENTION, "identical", "0.24", "1", "below its limit");
    expect_cells(f, ATTENTION, "identical", "0", "1", "below its limit");
    f->check.other_machine = true;
    expect_cells(f, ATTENTION, "identical", "0", "1", NULL);
    f->check.other_machine = false;
}

static const struct {
    const char *column, *obtained, *baseline, *reason;
} told[] = {
    {"construction_max", "<1e-70", "<1e-70", NULL},
    {"construction_max", "<1e-71", "<1e-70", NULL},
    {"construction_max", "<2e-70", "<1e-70", "above the baseline's bound"},
    {"construction_max", "1e-71", "<1e-70", NULL},
    {"construction_max", "0", "<1e-70", NULL},
    {"construction_max", "2e-70", "<1e-70", "above the baseline's bound"},
    {"construction_max", "<1e-70", "1e-70", "only a bound where the baseline has a value"},
    {"construction_max", "<1e-90", "1e-70", "only a bound where the baseline has a value"},
    {"construction_max", "<1e-90", "0", "not 0 any more"},
    {"construction_log10", "<-71", "<-70", NULL},
    {"construction_log10", "<-69", "<-70", "above the baseline's bound"},
    {"construction_log10", "<-70", "-70", "only a bound where the baseline has a value"},
    /* the logarithm of an error of 1, which is no proven 0 */
    {"construction_log10", "0", "-1.5e-3", "differs"},
    {"construction_log10", "0", "0", NULL},
    {"construction_log10", "0", "<-70", "above the baseline's bound"},
    {"construction_log10", "-3", "<0", NULL},
    {"native_max", "<1e-60", "<1e-60", NULL},
    {"native_max", "<1e-50", "<1e-60", NULL}, /* below what any machine may lose */
    {"native_max", "<1e-60", "1e-16", NULL},
    {"native_max", "1e-17", "<1e-60", NULL},
    {"native_max", "1e-3", "<1e-60", "above its limit"},
    {"native_max", "<1e-60", "1e-3",
     "0 where the baseline was far above the machine's own rounding"},
};

/* A cell that is only a bound, marked with a <, against the baseline's: what the baseline has as a
 * value is a value, and what it bounds is within. */
static void bounds_and_values_are_told_apart(void **state)
{
    CheckFixture *f = *state;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *o = told[i].obtained, *b = told[i].baseline, *column = told[i].column;
        set_text(&f->check.obtained, SILU_GOOD, column, o + (*o == '<'));
        set_text(&f->check.obtained, SILU_GOOD, "bounds", *o == '<' ? column : "");
        set_text(&f->check.baseline, SILU_GOOD, column, b + (*b == '<'));
        set_text(&f->check.baseline, SILU_GOOD, "bounds", *b == '<' ? column : "total_rms");
        if (told[i].reason == NULL) {
            assert_true(judge(f));
        } else {
            expect_finding(f, SILU_GOOD, column, told[i].reason);
            assert_int_equal(f->check.findings[0].obtained_bound, *o == '<');
            assert_int_equal(f->check.findings[0].baseline_bound, *b == '<');
        }
        again(f);
    }
}

/* ---- Statuses -------------------------------------------------------------------------------- */

static void statuses_pass_or_not(void **state)
{
    static const struct {
        const char *obtained, *baseline, *reason;
    } pairs[] = {
        {"ok", "ok", NULL},
        {"ok", "unresolved", NULL},
        {"ok", "fail", NULL},
        {"unresolved", "unresolved", NULL},
        {"unresolved", "vacuous", NULL},
        {"unresolved", "ok", "worse than the baseline's"},
        {"vacuous", "vacuous", "vacuous: the comparison says nothing"},
        {"vacuous", "ok", "vacuous: the comparison says nothing"},
        {"fail", "fail", "failed by itself"},
        {"fail", "error", "failed by itself"},
        {"overflow", "overflow", "failed by itself"},
        {"error", "error", "failed by itself"},
        {"error", "ok", "failed by itself"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        expect_cells(*state, SILU_HUGE + 1, "status", pairs[i].obtained, pairs[i].baseline,
                     pairs[i].reason);
    }
}

SUBJECT(check)
{
    const struct CMUnitTest tests[] = {
        RULE(twelve_digits_count_and_no_more),
        RULE(exact_counts_all_seventeen),
        RULE(decimals_are_compared_and_not_doubles),
        RULE(every_column_of_numbers_has_a_rule_that_bites),
        RULE(machine_errors_grow_by_the_factor_at_most),
        RULE(logarithms_are_compared_as_their_errors),
        RULE(the_floor_is_four_units_of_the_result),
        RULE(what_was_far_above_the_floor_does_not_vanish),
        RULE(observed_errors_vanish_by_chance),
        RULE(bit_equality_is_a_share_of_one_machine),
        RULE(bounds_and_values_are_told_apart),
        RULE(statuses_pass_or_not),
    };
    return cmocka_run_group_tests(tests, check_set_up_all, fixture_tear_down);
}
