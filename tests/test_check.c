/*
 * The rules of the regression verdict, each with a violation planted in one of two equal tables.
 */
#include "../harness/check.h"
#include "../harness/check_columns.h"
#include "../harness/number.h"
#include "program.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#define GRID                                                                                       \
    "--construction", "silu,attention", "--n", "3", "--d", "2", "--depth", "2", "--mask",          \
        "causal", "--omega", "2,20,1e6"
#define GRID_TEXT                                                                                  \
    "--construction silu,attention --n 3 --d 2 --depth 2 --mask causal --omega 2,20,1e6"

/* Rows of it: silu at Omega 2, 20, 1e6, then attention; two layers each. */
enum { SILU = 0, SILU_GOOD = 2, SILU_HUGE = 4, ATTENTION = 6, ATTENTION_GOOD = 8, ROWS = 12 };

typedef struct {
    Scratch scratch;
    char path[SCRATCH_PATH];
    Grid grid;
    RunOptions run;
    Check check;
} Fixture;

static void read_grid(Fixture *f, int argc, const char *const *argv)
{
    assert_int_equal(grid_read(&f->grid, &f->run, COMMAND_CHECK, argc, (char **)(uintptr_t)argv),
                     0);
    f->check.grid = &f->grid;
    f->check.options = &f->run.check;
}

static int set_up_all(void **state)
{
    Fixture *f = fixture_make(sizeof *f);
    char command[SCRATCH_PATH + 256];
    scratch_path(f->path, &f->scratch, "table.csv");
    snprintf(command, sizeof command, "sweep %s --quiet -o '%s'", GRID_TEXT, f->path);
    Output output = run(command);
    free(output.text);
    *state = f;
    return output.code;
}

static int set_up(void **state)
{
    static const char *const argv[] = {"check", GRID};
    Fixture *f = *state;
    read_grid(f, sizeof argv / sizeof *argv, argv);
    assert_int_equal(csv_read(&f->check.obtained, f->path), 0);
    assert_int_equal(csv_read(&f->check.baseline, f->path), 0);
    assert_int_equal(f->check.obtained.rows, ROWS);
    f->check.has_baseline = true;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    check_clear(&f->check);
    grid_clear(&f->grid);
    return 0;
}

static void set(Csv *csv, size_t row, const char *column, const char *text)
{
    size_t found = csv_find(csv, column);
    assert_true(found < csv->columns && row < csv->rows);
    csv->cells[(row + 1) * csv->columns + found] = text;
}

static const char *get(const Csv *csv, size_t row, const char *column)
{
    return csv_cell(csv, row, csv_find(csv, column));
}

static double number_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    assert_true(end != text && *end == '\0');
    return value;
}

static bool judge(Fixture *f)
{
    assert_int_equal(check_judge(&f->check), 0);
    return check_passes(&f->check);
}

/* One finding, in that row and column, for that reason. */
static void expect(Fixture *f, size_t row, const char *column, const char *reason)
{
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 1);
    const Finding *finding = &f->check.findings[0];
    assert_string_equal(finding->reason, reason);
    assert_int_equal(finding->row, row);
    if (column != NULL) {
        assert_string_equal(finding->column, column);
    } else {
        assert_null(finding->column);
    }
}

/* Judges once more from the beginning. */
static void again(Fixture *f)
{
    void *state = f;
    tear_down(&state);
    set_up(&state);
}

static void equal_tables_pass(void **state)
{
    Fixture *f = *state;
    assert_true(judge(f));
    assert_int_equal(f->check.rows, ROWS);
    assert_true(f->check.cells > 20 * ROWS);
    assert_int_equal(f->check.mention_count, 0);
}

/* ---- Reference columns ------------------------------------------------------------------------ */

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
    Fixture *f = *state;
    char moved[64];
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (int digit = 1; digit <= 17; digit++) {
            move_digit(moved, get(&f->check.baseline, SILU_HUGE, columns[c]), digit);
            set(&f->check.obtained, SILU_HUGE, columns[c], moved);
            if (digit <= 12) {
                expect(f, SILU_HUGE, columns[c], "differs");
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
    Fixture *f = *state;
    char moved[64];
    for (int digit = 1; digit <= 17; digit++) {
        move_digit(moved, get(&f->check.baseline, ATTENTION, "score_max"), digit);
        f->run.check.exact = true;
        set(&f->check.baseline, ATTENTION, "score_max", moved);
        expect(f, ATTENTION, "score_max", "differs");
        again(f);
    }
    f->run.check.exact = true;
    assert_true(judge(f));
}

static void decimals_are_compared_and_not_doubles(void **state)
{
    static const struct {
        const char *obtained, *baseline;
        const char *reason; /* NULL: passes */
    } pairs[] = {
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
        {"0", "1e-400", "0 for what the baseline resolves"},
        {"0", "1e-100000", "0 for what the baseline resolves"},
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
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        set(&f->check.obtained, SILU_GOOD, "construction_max", pairs[i].obtained);
        set(&f->check.baseline, SILU_GOOD, "construction_max", pairs[i].baseline);
        if (pairs[i].reason == NULL) {
            assert_true(judge(f));
        } else {
            expect(f, SILU_GOOD, "construction_max", pairs[i].reason);
        }
        again(f);
    }
}

static void every_column_of_numbers_has_a_rule_that_bites(void **state)
{
    Fixture *f = *state;
    size_t columns = f->check.obtained.columns, tried = 0;
    for (size_t c = 0; c < columns; c++) {
        const char *name = csv_name(&f->check.obtained, c);
        if (check_is_key(name) || strcmp(name, "status") == 0) {
            continue;
        }
        assert_true(column_rule(name) != RULE_NONE);
        if (strcmp(name, "precision_bits") != 0) {
            set(&f->check.baseline, ATTENTION, name, "nan");
            expect(f, ATTENTION, name, "not a number in the baseline");
            again(f);
            name = csv_name(&f->check.obtained, c);
            set(&f->check.obtained, ATTENTION, name, "inf");
            expect(f, ATTENTION, name, "not a number");
            again(f);
            tried++;
        }
    }
    assert_int_equal(tried, 18 + 3 + 2 + 1 + 4);
}

/* ---- Machine columns -------------------------------------------------------------------------- */

/* The baseline's cell becomes the obtained one, times scale. */
static void scale(Fixture *f, size_t row, const char *column, double by)
{
    static char text[8][64];
    static size_t next;
    char *cell = text[next++ % 8];
    double value = number_of(get(&f->check.obtained, row, column));
    assert_true(value > 0);
    snprintf(cell, 64, "%.16e", value * by);
    set(&f->check.baseline, row, column, cell);
}

/* Omega = 1e6: rounding is thousands of units, far above any floor. */
static void machine_errors_grow_by_the_factor_at_most(void **state)
{
    static const char *const columns[] = {
        "rounding_max", "rounding_rms", "rounding_rel", "total_max",    "total_rms", "total_rel",
        "observed_max", "observed_rms", "observed_rel", "rounding_ulp", "total_ulp"};
    Fixture *f = *state;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        scale(f, SILU_HUGE, columns[c], 1 / 3.9);
        assert_true(judge(f));
        again(f);
        scale(f, SILU_HUGE, columns[c], 1 / 4.1);
        expect(f, SILU_HUGE, columns[c], "above its limit");
        assert_true(fabs(f->check.findings[0].excess - 4.1 / 4) < 1e-6);
        again(f);
        scale(f, SILU_HUGE, columns[c], 1 / 4.1);
        f->run.check.factor = 5;
        assert_true(judge(f));
        again(f);
        scale(f, SILU_HUGE, columns[c], 1 / 1.2);
        f->run.check.factor = 1.1;
        expect(f, SILU_HUGE, columns[c], "above its limit");
        again(f);
        scale(f, SILU_HUGE, columns[c], 1000); /* better than it was */
        assert_true(judge(f));
        again(f);
    }
}

/* The floor, 4u of the result's root mean square, from what the table says of it. */
static void the_floor_is_four_units_of_the_result(void **state)
{
    static const char *const columns[] = {"native_max", "native_rms", "native_rel"};
    Fixture *f = *state;
    double rms = number_of(get(&f->check.obtained, SILU, "total_rms")) /
                 number_of(get(&f->check.obtained, SILU, "total_rel"));
    char below[64], above[64];
    for (size_t c = 0; c < 3; c++) {
        double floor = 4 * 0x1p-53 * (c == 2 ? 1 : rms);
        snprintf(below, sizeof below, "%.16e", floor * 0.999);
        snprintf(above, sizeof above, "%.16e", floor * 1.001);
        set(&f->check.baseline, SILU, columns[c], "1e-40");
        set(&f->check.obtained, SILU, columns[c], below);
        assert_true(judge(f));
        again(f);
        set(&f->check.baseline, SILU, columns[c], "1e-40");
        set(&f->check.obtained, SILU, columns[c], above);
        expect(f, SILU, columns[c], "above its limit");
        again(f);
    }
    set(&f->check.baseline, SILU, "rounding_ulp", "1e-40");
    set(&f->check.obtained, SILU, "rounding_ulp", "1.001");
    expect(f, SILU, "rounding_ulp", "above its limit");
}

static void what_was_far_above_the_floor_does_not_vanish(void **state)
{
    Fixture *f = *state;
    set(&f->check.obtained, SILU_HUGE, "rounding_max", "0");
    expect(f, SILU_HUGE, "rounding_max", "0 for what was far above the machine's own floor");
    again(f);
    set(&f->check.obtained, SILU_GOOD, "native_max", "0"); /* an ulp may */
    assert_true(judge(f));
    again(f);
    set(&f->check.obtained, SILU_HUGE, "rounding_max", "-1e-3");
    expect(f, SILU_HUGE, "rounding_max", "above its limit");
}

/* Of another machine's streams that agree nothing follows. */
static void observed_errors_vanish_by_chance(void **state)
{
    Fixture *f = *state;
    set(&f->check.obtained, SILU_HUGE, "observed_max", "0");
    expect(f, SILU_HUGE, "observed_max", "0 for what was far above the machine's own floor");
    again(f);
    set(&f->check.obtained, SILU_HUGE, "observed_max", "0");
    f->check.other_machine = true;
    assert_true(judge(f));
    f->check.other_machine = false;
    again(f);
    /* And may be what the original loses. */
    set(&f->check.baseline, ATTENTION, "observed_max", "0");
    set(&f->check.baseline, ATTENTION, "native_max", "1e-10");
    set(&f->check.obtained, ATTENTION, "observed_max", "3.9e-10");
    assert_true(judge(f));
    again(f);
    set(&f->check.baseline, ATTENTION, "observed_max", "0");
    set(&f->check.baseline, ATTENTION, "native_max", "1e-10");
    set(&f->check.obtained, ATTENTION, "observed_max", "4.1e-10");
    expect(f, ATTENTION, "observed_max", "above its limit");
}

static void bit_equality_is_a_share_of_one_machine(void **state)
{
    Fixture *f = *state;
    set(&f->check.baseline, ATTENTION, "identical", "1");
    set(&f->check.obtained, ATTENTION, "identical", "0.26");
    assert_true(judge(f));
    again(f);
    set(&f->check.baseline, ATTENTION, "identical", "1");
    set(&f->check.obtained, ATTENTION, "identical", "0.24");
    expect(f, ATTENTION, "identical", "below its limit");
    again(f);
    set(&f->check.baseline, ATTENTION, "identical", "1");
    set(&f->check.obtained, ATTENTION, "identical", "0");
    expect(f, ATTENTION, "identical", "below its limit");
    again(f);
    set(&f->check.baseline, ATTENTION, "identical", "1");
    set(&f->check.obtained, ATTENTION, "identical", "0");
    f->check.other_machine = true;
    assert_true(judge(f));
    f->check.other_machine = false;
}

/* No construction prints a bound yet; a table may. */
static void bounds_are_not_exceeded(void **state)
{
    static const char *const names[][2] = {{"construction_max", "construction_bound"},
                                           {"rounding_max", "rounding_bound"}};
    Fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t above = 0; above < 2; above++) {
            char bound[64];
            double value = number_of(get(&f->check.obtained, SILU, names[i][0]));
            snprintf(bound, sizeof bound, "%.16e", value * (above ? 0.999 : 1.001));
            set(&f->check.obtained, SILU, names[i][1], bound);
            set(&f->check.baseline, SILU, names[i][1], bound);
            if (above) {
                expect(f, SILU, names[i][0], "above its bound");
            } else {
                assert_true(judge(f));
            }
            again(f);
        }
        set(&f->check.obtained, SILU, names[i][1], "1");
        expect(f, SILU, names[i][1], "blank in the baseline");
        again(f);
    }
}

/* ---- Statuses --------------------------------------------------------------------------------- */

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
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        set(&f->check.obtained, SILU_HUGE + 1, "status", pairs[i].obtained);
        set(&f->check.baseline, SILU_HUGE + 1, "status", pairs[i].baseline);
        if (pairs[i].reason == NULL) {
            assert_true(judge(f));
        } else {
            expect(f, SILU_HUGE + 1, "status", pairs[i].reason);
        }
        again(f);
    }
}

/* ---- Rows and columns ------------------------------------------------------------------------- */

static void a_stale_row_is_missing_and_a_new_one_unknown(void **state)
{
    Fixture *f = *state;
    set(&f->check.baseline, ATTENTION, "seed", "2");
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 2);
    assert_string_equal(f->check.findings[0].reason, "a row that the baseline does not have");
    assert_string_equal(f->check.findings[1].reason, "a row that is missing");
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
    Fixture *f = *state;
    size_t keys = 0;
    for (; check_key(keys) != NULL; keys++) {
        set(&f->check.baseline, SILU, check_key(keys), "other");
        assert_false(judge(f));
        assert_int_equal(f->check.finding_count, 2);
        again(f);
    }
    assert_int_equal(keys, 17);
    assert_true(check_is_key("layer") && check_is_key("options") && check_is_key("d_ff"));
    assert_false(check_is_key("status") || check_is_key("bias"));
}

static void fewer_rows_are_named(void **state)
{
    Fixture *f = *state;
    f->check.baseline.rows--; /* the last is gone */
    expect(f, ROWS - 1, NULL, "a row that the baseline does not have");
    again(f);
    f->check.obtained.rows--;
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 2);
    assert_string_equal(f->check.findings[0].reason, "rows of the grid that were not obtained");
    assert_string_equal(f->check.findings[1].reason, "a row that is missing");
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
    Fixture *f = *state;
    size_t count = f->grid.count;
    f->check.baseline.rows = f->check.obtained.rows = 0;
    f->grid.count = 0;
    assert_false(judge(f));
    f->grid.count = count;
}

static void keys_occur_once(void **state)
{
    Fixture *f = *state;
    for (size_t c = 0; c < f->check.baseline.columns; c++) {
        const char *name = csv_name(&f->check.baseline, c);
        set(&f->check.baseline, SILU + 1, name, get(&f->check.baseline, SILU, name));
    }
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 2);
    assert_string_equal(f->check.findings[0].reason, "a row that the baseline does not have");
    assert_string_equal(f->check.findings[1].reason,
                        "a key that an earlier row of the baseline has");
    again(f);
    for (size_t c = 0; c < f->check.obtained.columns; c++) {
        const char *name = csv_name(&f->check.obtained, c);
        set(&f->check.obtained, SILU + 1, name, get(&f->check.obtained, SILU, name));
    }
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 2);
    assert_string_equal(f->check.findings[0].reason, "a row that is missing");
    assert_string_equal(f->check.findings[1].reason, "a key that an earlier row has");
}

static void columns_are_matched_by_name(void **state)
{
    Fixture *f = *state;
    Csv *baseline = &f->check.baseline;
    baseline->cells[csv_find(baseline, "total_rms")] = "total_median";
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 1);
    assert_string_equal(f->check.findings[0].reason, "a column that is missing");
    assert_string_equal(f->check.findings[0].column, "total_median");
    assert_int_equal(f->check.mention_count, 1);
    assert_non_null(strstr(f->check.mentions[0], "total_rms"));
    again(f);
    f->check.obtained.cells[csv_find(&f->check.obtained, "total_rms")] = "median";
    f->check.baseline.cells[csv_find(&f->check.baseline, "total_rms")] = "median";
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, ROWS);
    assert_string_equal(f->check.findings[0].reason, "a column without a rule");
}

static void a_row_that_compares_nothing_does_not_pass(void **state)
{
    Fixture *f = *state;
    for (size_t c = 0; c < f->check.obtained.columns; c++) {
        const char *name = csv_name(&f->check.obtained, c);
        if (!check_is_key(name) && strcmp(name, "status") != 0) {
            set(&f->check.obtained, SILU, name, "");
            set(&f->check.baseline, SILU, name, "");
        }
    }
    expect(f, SILU, "layer", "nothing to compare");
}

/* ---- Tolerances ------------------------------------------------------------------------------- */

static void tolerances_judge_without_a_baseline(void **state)
{
    static const struct {
        const char *cell;
        const char *reason;
    } cells[] = {
        {"1e-9", NULL},
        {"9.9999999999999999e-10", NULL},
        {"1.0000000000000001e-09", "above the tolerance"},
        {"0", NULL},
        {"0.0", "a zero that is not proven"},
        {"nan", "not a number, under a tolerance"},
        {"inf", "not a number, under a tolerance"},
        {"", "not a number, under a tolerance"},
    };
    Fixture *f = *state;
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
            set(&f->check.obtained, row, "rounding_rel", row == SILU ? cells[i].cell : "1e-15");
        }
        if (cells[i].reason == NULL) {
            assert_true(judge(f));
            assert_int_equal(f->check.cells, 2 * ROWS);
        } else {
            expect(f, SILU, "rounding_rel", cells[i].reason);
        }
        again(f);
    }
}

static void a_tolerance_counts_beside_a_baseline(void **state)
{
    Fixture *f = *state;
    f->grid.points[0].judged = true; /* silu at Omega = 2: its error is large */
    f->grid.points[0].tolerance = 1e-9;
    f->grid.points[0].judge = ERROR_TOTAL;
    f->grid.points[0].norm = NORM_MAX;
    assert_false(judge(f));
    assert_int_equal(f->check.finding_count, 2);
    assert_string_equal(f->check.findings[0].reason, "above the tolerance");
    assert_string_equal(f->check.findings[0].column, "total_max");
}

/* ---- Reading ---------------------------------------------------------------------------------- */

/* Reads text as a baseline: the exit code, and what was said. */
static int read_baseline(Fixture *f, char said[SCRATCH_TEXT], const char *text, size_t length)
{
    char path[SCRATCH_PATH];
    bool missing;
    scratch_path(path, &f->scratch, "torn.csv");
    file_write(path, text, length);
    csv_clear(&f->check.baseline);
    f->run.check.baseline = path;
    stderr_hold(&f->scratch);
    int status = check_open(&f->check, &missing);
    stderr_take(said, &f->scratch);
    assert_false(missing);
    f->run.check.baseline = NULL;
    return status;
}

static void damaged_baselines_are_refused(void **state)
{
    Fixture *f = *state;
    static const struct {
        const char *from, *to; /* the first occurrence is replaced */
        const char *where;
    } damages[] = {
        {"construction,", "construction,,", ":2: token 'ok'"},
        {"total_rms", "total_max", ":1: token 'total_max'"},
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
        {",ok\n", ",ok\r\n", ":2: token '\\r'"},
        {"\nsilu", "\n\nsilu", ":2: token ''"},
    };
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
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        Number number;
        assert_true(number_read(&number, good[i].text));
        assert_int_equal(number.kind, NUMBER_FINITE);
        assert_true(number.digits == good[i].digits);
        assert_int_equal(number.exponent, good[i].exponent);
        assert_int_equal(number.negative, good[i].text[0] == '-');
    }
    static const char *const bad[] = {"1.23456789012345678", "e5",  "1e5.0", "1.2.3", "0x10",
                                      "1e9999999999999999",  "- 1", "--1",   "1 ",    "infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Number number;
        assert_false(number_read(&number, bad[i]));
    }
}

int main(void)
{
#define RULE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(equal_tables_pass),
        RULE(twelve_digits_count_and_no_more),
        RULE(exact_counts_all_seventeen),
        RULE(decimals_are_compared_and_not_doubles),
        RULE(every_column_of_numbers_has_a_rule_that_bites),
        RULE(machine_errors_grow_by_the_factor_at_most),
        RULE(the_floor_is_four_units_of_the_result),
        RULE(what_was_far_above_the_floor_does_not_vanish),
        RULE(observed_errors_vanish_by_chance),
        RULE(bit_equality_is_a_share_of_one_machine),
        RULE(bounds_are_not_exceeded),
        RULE(statuses_pass_or_not),
        RULE(a_stale_row_is_missing_and_a_new_one_unknown),
        RULE(every_key_column_is_one),
        RULE(fewer_rows_are_named),
        RULE(a_grid_without_points_does_not_pass),
        RULE(keys_occur_once),
        RULE(columns_are_matched_by_name),
        RULE(a_row_that_compares_nothing_does_not_pass),
        RULE(tolerances_judge_without_a_baseline),
        RULE(a_tolerance_counts_beside_a_baseline),
        RULE(damaged_baselines_are_refused),
        cmocka_unit_test(numbers_are_read_exactly),
    };
    return cmocka_run_group_tests(tests, set_up_all, fixture_tear_down);
}
