/*
 * The rules of the regression verdict for whole tables, their rows and columns, for tolerances, and
 * for what is no table.
 */
#include "../../harness/base/number.h"
#include "../../harness/commands/check/check.h"
#include "../../harness/table/check_columns.h"
#include "../../harness/table/columns.h"
#include "../check_fixture.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rows and columns ------------------------------------------------------------------------ */

/* It has so many findings, the first for that reason. */
static void expect_findings(CheckFixture *f, size_t count, const char *first)
{
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, count);
    assert_string_equal(f->check.findings[0].reason, first);
}

static void expect_two(CheckFixture *f, const char *first, const char *second)
{
    expect_findings(f, 2, first);
    assert_string_equal(f->check.findings[1].reason, second);
}

static void a_stale_row_is_missing_and_a_new_one_unknown(void **state)
{
    CheckFixture *f = *state;
    set_text(&f->check.baseline, ATTENTION, "seed", "2");
    expect_two(f, "a row that the baseline does not have", "a row that is missing");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(f->check.findings[i].row, ATTENTION);
        assert_true(isinf(f->check.findings[i].excess));
    }
    assert_ptr_equal(f->check.findings[0].table, &f->check.obtained);
    assert_ptr_equal(f->check.findings[1].table, &f->check.baseline);
    assert_int_equal(f->check.failed, 2);
}

static void every_key_column_is_one(void **state)
{
    CheckFixture *f = *state;
    size_t keys = 0;
    for (; column_key(keys) != NULL; keys++) {
        set_text(&f->check.baseline, SILU, column_key(keys), "other");
        assert_false(judge(f));
        assert_int_equal(f->check.finding_count, 2);
        again(f);
    }
    assert_int_equal(keys, 17);
    assert_true(column_kind("layer") == COLUMN_KEY && column_kind("options") == COLUMN_KEY &&
                column_kind("d_ff") == COLUMN_KEY);
    assert_true(column_kind("status") == COLUMN_STATUS && column_kind("bias") == COLUMN_UNKNOWN);
}

static void fewer_rows_are_named(void **state)
{
    CheckFixture *f = *state;
    f->check.baseline.rows--; /* the last is gone */
    expect_finding(f, ROWS - 1, NULL, "a row that the baseline does not have");
    again(f);
    f->check.obtained.rows--;
    expect_two(f, "rows of the grid that were not obtained", "a row that is missing");
    again(f);
    f->check.baseline.rows = 0;
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, ROWS + 1);
    again(f);
    f->check.baseline.rows = f->check.obtained.rows = 0;
    assert_false(judge(f));
}

static void a_grid_without_points_does_not_pass(void **state)
{
    CheckFixture *f = *state;
    size_t count = f->grid.count;
    f->check.baseline.rows = f->check.obtained.rows = 0;
    f->grid.count = 0;
    assert_false(judge(f));
    f->grid.count = count;
}

static void keys_occur_once(void **state)
{
    CheckFixture *f = *state;
    for (int i = 0; i < 2; i++) {
        Csv *csv = i == 0 ? &f->check.baseline : &f->check.obtained;
        for (size_t c = 0; c < csv->columns; c++) {
            const char *name = csv_name(csv, c);
            set_text(csv, SILU + 1, name, text_at(csv, SILU, name));
        }
        if (i == 0) {
            expect_two(f, "a row that the baseline does not have",
                       "a key that an earlier row of the baseline has");
        } else {
            expect_two(f, "a row that is missing", "a key that an earlier row has");
        }
        again(f);
    }
}

static void columns_are_matched_by_name(void **state)
{
    CheckFixture *f = *state;
    Csv *baseline = &f->check.baseline;
    baseline->cells[csv_find(baseline, "total_rms")] = "total_median";
    expect_findings(f, 1, "a column that is missing");
    assert_string_equal(f->check.findings[0].column, "total_median");
    assert_int_equal(f->check.mention_count, 1);
    assert_non_null(strstr(f->check.mentions[0], "total_rms"));
    again(f);
    f->check.obtained.cells[csv_find(&f->check.obtained, "total_rms")] = "median";
    f->check.baseline.cells[csv_find(&f->check.baseline, "total_rms")] = "median";
    expect_findings(f, ROWS, "a column without a rule");
}

static void a_row_that_compares_nothing_does_not_pass(void **state)
{
    CheckFixture *f = *state;
    for (size_t c = 0; c < f->check.obtained.columns; c++) {
        const char *name = csv_name(&f->check.obtained, c);
        if (column_kind(name) != COLUMN_KEY && strcmp(name, "status") != 0) {
            set_text(&f->check.obtained, SILU, name, "");
            set_text(&f->check.baseline, SILU, name, "");
        }
    }
    expect_finding(f, SILU, "layer", "nothing to compare");
}

/* ---- Tolerances ------------------------------------------------------------------------------ */

static void tolerances_judge_without_a_baseline(void **state)
{
    static const struct {
        const char *cell;
        const char *reason;
    } cells[] = {
        {"1e-9", NULL},
        {"9.9999999999999999e-10", NULL},
        {"1.0000000000000001e-09", NULL}, /* as the tolerance itself is printed */
        {"1.0000000000000002e-09", "above the tolerance"},
        {"0", NULL},
        {"0.0", "a zero that is not proven"},
        {"nan", "not a number, under a tolerance"},
        {"inf", "not a number, under a tolerance"},
        {"", "not a number, under a tolerance"},
    };
    CheckFixture *f = *state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        f->check.has_baseline = false;
        csv_clear(&f->check.baseline);
        for (size_t p = 0; p < f->grid.count; p++) {
            f->grid.points[p].judged = true;
            f->grid.points[p].tolerance = 1e-9;
            f->grid.points[p].judge = ERROR_ROUNDING;
            f->grid.points[p].norm = NORM_REL;
        }
        for (size_t row = 0; row < ROWS; row++) {
            set_text(&f->check.obtained, row, "rounding_rel",
                     row == SILU ? cells[i].cell : "1e-15");
        }
        if (cells[i].reason == NULL) {
            assert_true(judge(f));
            assert_int_equal(f->check.cells, 2 * ROWS);
        } else {
            expect_finding(f, SILU, "rounding_rel", cells[i].reason);
        }
        again(f);
    }
}

/* In ulps, as a logarithm and above a tolerance a size is the same one; another norm is not. */
static void a_size_is_found_once(void **state)
{
    CheckFixture *f = *state;
    f->grid.points[0].judged = true;
    f->grid.points[0].tolerance = 1e-9;
    set_text(&f->check.obtained, SILU, "total_max", "1e-3");
    set_text(&f->check.obtained, SILU, "total_ulp", "1e9");
    set_text(&f->check.obtained, SILU, "total_log10", "0");
    set_text(&f->check.baseline, SILU, "total_max", "1e-15");
    set_text(&f->check.baseline, SILU, "total_ulp", "1");
    set_text(&f->check.baseline, SILU, "total_log10", "-15");
    set_text(&f->check.baseline, SILU, "total_rms", "1e-16");
    assert_false(judge(f));
    assert_string_equal(f->check.findings[0].column, "total_max");
    assert_string_equal(f->check.findings[0].reason, "above its limit");
    assert_string_equal(f->check.findings[1].column, "total_rms");
    size_t of_row = 0;
    for (size_t i = 0; i < f->check.finding_count; i++) {
        of_row += f->check.findings[i].row == SILU;
    }
    assert_int_equal(of_row, 2);
    f->grid.points[0].judged = false;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads text as a baseline: the exit code, and what was said. */
static int read_baseline(CheckFixture *f, char said[SCRATCH_TEXT], const char *text, size_t length)
{
    char path[SCRATCH_PATH];
    scratch_path(path, &f->scratch, "torn.csv");
    file_write(path, text, length);
    seal_table(path);
    csv_clear(&f->check.baseline);
    f->run.check.baseline = path;
    stderr_hold(&f->scratch);
    int status = check_open(&f->check);
    stderr_take(said, &f->scratch);
    f->run.check.baseline = NULL;
    return status;
}

static const struct {
    const char *column, *cell;
    bool good;
} domains[] = {
    {"identical", "0", true},
    {"identical", "1", true},
    {"identical", "0.5", true},
    {"identical", "9.9999999999999999e-1", true},
    {"identical", "-1", false},
    {"identical", "1.0000000000000001", false},
    {"identical", "2e0", false},
    {"identical", "1e1", false},
    {"total_max", "1e308", true},
    {"total_max", "9.99e+308", true}, /* of two doubles */
    {"total_max", "1e999", false},
    {"rounding_rms", "1e309", false},
    {"construction_max", "1e999", true}, /* of no machine */
    {"total_max", "-1e308", false},
    {"total_max", "nan", true},
    {"total_max", "", true},
    {"total_max", "1.2e+330985980239", false}, /* only a bound is so large */
    {"total_rel", "1e1000000000000000000", true},
    {"total_rel", "1e1000000000000000001", false},
    {"construction_max", "6.3e-868", true},
    {"construction_max", "-6.3e-868", false},
    {"construction_log10", "-868", true},
    {"score_max", "-1", false},
    {"precision_bits", "256", true},
    {"precision_bits", "-256", false},
    {"precision_bits", "2e2", false},
    {"status", "fine", false},
};

/* Where nothing was measured a machine's error may be a bound beyond all doubles. */
static void bounds_leave_the_doubles(CheckFixture *f)
{
    Csv csv = {0};
    assert_int_equal(csv_read(&csv, f->path), 0);
    set_text(&csv, 1, "total_max", "1.2e+330985980239");
    set_text(&csv, 1, "bounds", "total_max");
    assert_int_equal(check_cells(&csv), 0);
    csv_clear(&csv);
}

/* Cells of one row, by the names of columns: those that are accepted, and those that are not. */
static void cells_have_domains(CheckFixture *f, char said[SCRATCH_TEXT])
{
    char path[SCRATCH_PATH];
    scratch_path(path, &f->scratch, "torn.csv");
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        Csv csv = {0};
        assert_int_equal(csv_read(&csv, f->path), 0);
        set_text(&csv, 1, domains[i].column, domains[i].cell);
        stderr_hold(&f->scratch);
        int status = check_cells(&csv);
        stderr_take(said, &f->scratch);
        if (status != (domains[i].good ? 0 : 2)) {
            fail_msg("%s %s: %d: %s", domains[i].column, domains[i].cell, status, said);
        }
        assert_true(domains[i].good || strstr(said, ":3: token '") != NULL);
        csv_clear(&csv);
    }
}

static const struct {
    const char *from, *to; /* the first occurrence is replaced */
    const char *where;
} damages[] = {
    {"construction,", "construction,,", ":2: token 'ok'"},
    {"total_rms", "total_max", ":1: token 'total_max'"},
    {"total_max", "total_least", "there is no total_max"},
    {",status\n", ",state\n", "there is no status"},
    {"precision_bits", "bits", "there is no precision_bits"},
    {",0,0,0,", ",0,-1e-9,0,", "a number that is not negative"},
    {",0,0,0,", ",0,-0,0,", "a number that is not negative"},
    {",0,0,0,", ",0,-inf,0,", "a number that is not negative"},
    {",0,0,0,", ",0,1e2000000000000000000,0,", "a number below 10^1000000000000000000"},
    {",layer,", ",layers,", "there is no layer"},
    {",options,", ",option,", "there is no options"},
    {"silu,silu,", "silu,silu,silu,", ":2: token"},
    {",ok\n", "\n", ":2: token"},
    {",ok\n", ",OK\n", ":2: token 'OK'"},
    {",ok\n", ",\n", ":2: token ''"},
    {"e-", "f-", ":2: token"},
    {"e-", "e--", ":2: token"},
    {"e-", "e-0x", ":2: token"},
    {"e-", "55e-", "at most 17 digits"},
    {",0,0,0,", ",0,O,0,", ":2: token 'O'"},
    {",0,0,0,", ",0,.5,0,", ":2: token '.5'"},
    {",0,0,0,", ",0,5.,0,", ":2: token '5.'"},
    {",0,0,0,", ",0,+5,0,", ":2: token '+5'"},
    {",0,0,0,", ",0, 5,0,", ":2: token ' 5'"},
    {",0,0,0,", ",0,1e,0,", ":2: token '1e'"},
    {",0,0,0,", ",0,NaN,0,", ":2: token 'NaN'"},
    {",0,0,0,", ",0,\"0\",0,", ":2: token '\"'"},
    {",ok\n", ",ok\r \n", ":2: token '\\r'"},
    {"\nsilu", "\n\nsilu", ":2: token ''"},
};

static void damaged_baselines_are_refused(void **state)
{
    CheckFixture *f = *state;
    char *table = calloc(1, SCRATCH_TEXT), *text = calloc(1, SCRATCH_TEXT + 64);
    char *said = calloc(1, SCRATCH_TEXT);
    long length = file_read(table, f->path);
    assert_true(length > 0);
    assert_int_equal(read_baseline(f, said, table, (size_t)length), 0);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const char *found = strstr(table, damages[i].from);
        assert_non_null(found);
        int size = sprintf(text, "%.*s%s%s", (int)(found - table), table, damages[i].to,
                           found + strlen(damages[i].from));
        assert_int_equal(read_baseline(f, said, text, (size_t)size), 2);
        if (strstr(said, damages[i].where) == NULL || count_lines(said) != 1) {
            fail_msg("%s for %s: %s", damages[i].to, damages[i].from, said);
        }
    }
    cells_have_domains(f, said);
    bounds_leave_the_doubles(f);
    /* Torn: every length but the whole, and what ends with a line. */
    for (long cut = 0; cut < length; cut += 997) {
        if (cut == 0 || table[cut - 1] != '\n') {
            assert_int_equal(read_baseline(f, said, table, (size_t)cut), 2);
            assert_int_equal(count_lines(said), 1);
        }
    }
    table[length / 2] = '\0';
    assert_int_equal(read_baseline(f, said, table, (size_t)length), 2);
    assert_non_null(strstr(said, "zero byte"));
    free(table);
    free(text);
    free(said);
}

static void numbers_are_read_exactly(void **state)
{
    static const struct {
        const char *text;
        uint64_t digits;
        long exponent;
    } good[] = {
        {"1", 10000000000000000, 0},
        {"0.00123", 12300000000000000, -3},
        {"100", 10000000000000000, 2},
        {"12345678901234567", 12345678901234567, 16},
        {"9.9999999999999999e-999", 99999999999999999, -999},
        {"0001.5", 15000000000000000, 0},
        {"-2.5e+3", 25000000000000000, 3},
        {"6.48e-86858896380650365", 64800000000000000, -86858896380650365}, /* at Omega = 1e17 */
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        Number number;
        assert_true(number_read(&number, good[i].text));
        assert_int_equal(number.kind, NUMBER_FINITE);
        assert_true(number.digits == good[i].digits);
        assert_int_equal(number.exponent, good[i].exponent);
        assert_int_equal(number.negative, good[i].text[0] == '-');
    }
    static const char *const bad[] = {"1.23456789012345678",   "e5",  "1e5.0", "1.2.3", "0x10",
                                      "1e9999999999999999999", "- 1", "--1",   "1 ",    "infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Number number;
        assert_false(number_read(&number, bad[i]));
    }
}

SUBJECT(check_tables)
{
    const struct CMUnitTest tests[] = {
        RULE(a_stale_row_is_missing_and_a_new_one_unknown),
        RULE(every_key_column_is_one),
        RULE(fewer_rows_are_named),
        RULE(a_grid_without_points_does_not_pass),
        RULE(keys_occur_once),
        RULE(columns_are_matched_by_name),
        RULE(a_row_that_compares_nothing_does_not_pass),
        RULE(tolerances_judge_without_a_baseline),
        RULE(a_size_is_found_once),
        RULE(damaged_baselines_are_refused),
        cmocka_unit_test(numbers_are_read_exactly),
    };
    return cmocka_run_group_tests(tests, check_set_up_all, fixture_tear_down);
}
