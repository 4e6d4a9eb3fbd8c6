/*
 * --propagation as a user has it: six columns behind the others, which stay what they are; parts
 * that add up; refused where there is no difference to split.
 */
#include "../fixture.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID                                                                                       \
    "--construction all --mask none,causal --kernel dense,structured --omega 6,20,1000 --n 4 "     \
    "--d 5 --d-ff 6 --heads 2 --depth 4 --seed 3 --digits 17"
#define CELL 64

/* Parts are printed to 17 digits here. */
static const double SLACK = 1e-15;

static Output sweep(const char *line)
{
    return run_formatted("sweep %s --format csv -q 2>&1", line);
}

/* The same table, without the last columns, of the same bits. */
static void other_columns_stay(void **state)
{
    Output plain = sweep(GRID " --precision 256");
    Output split = sweep(GRID " --precision 256 --propagation");
    const char *a = plain.text, *b = split.text;
    assert_int_equal(plain.code, 0);
    assert_int_equal(split.code, 0);
    assert_int_equal(lines(&plain), lines(&split));
    for (size_t i = 0; i < lines(&plain); i++) {
        size_t length = strcspn(a, "\n");
        assert_memory_equal(a, b, length);
        assert_int_equal(b[length], ',');
        a += length + 1;
        b += strcspn(b, "\n") + 1;
    }
}

static double part(const Output *table, size_t line, const char *error, const char *name)
{
    char column[CELL];
    snprintf(column, sizeof column, "%s_%s", error, name);
    return number(table, line, column);
}

static bool is_blank(const Output *table, size_t line, const char *error, const char *name)
{
    char column[CELL], text[CELL];
    snprintf(column, sizeof column, "%s_%s", error, name);
    cell(text, sizeof text, table, line, column);
    return text[0] == '\0';
}

/* |inherited - injected| <= error <= inherited + injected, and gain = inherited / the error
 * before. */
static void check_row(const Output *table, size_t line, const char *error, bool first)
{
    double all = part(table, line, error, "max");
    double injected = part(table, line, error, "injected_max");
    double inherited = part(table, line, error, "inherited_max");
    double slack = SLACK * (injected + inherited);
    assert_true(fabs(inherited - injected) <= all + slack);
    assert_true(all <= injected + inherited + slack);
    if (first) {
        assert_true(inherited == 0);
        assert_true(is_blank(table, line, error, "gain"));
        assert_true(fabs(all - injected) <= slack);
        return;
    }
    double before = part(table, line - 1, error, "max");
    if (before > 0) {
        double gain = part(table, line, error, "gain");
        assert_true(fabs(gain * before - inherited) <= 4 * SLACK * inherited);
    } else {
        assert_true(is_blank(table, line, error, "gain"));
    }
}

static void parts_add_up_in_every_row(void **state)
{
    static const char *const errors[] = {"construction", "rounding"};
    size_t checked = 0, zeros = 0;
    Output table = sweep(GRID " --propagation");
    for (size_t line = 1; line < lines(&table); line++) {
        bool first = number(&table, line, "layer") == 1;
        char text[CELL];
        cell(text, sizeof text, &table, line, "omega");
        for (size_t i = 0; i < 2; i++, checked++) {
            /* e^(-2000) is no double: 0 as a number, and its own test below. */
            if (i == 0 && strcmp(text, "1000") == 0) {
                zeros++;
                continue;
            }
            check_row(&table, line, errors[i], first);
        }
        expect_cell(&table, line, "status", "ok");
        expect_cell(&table, line, "bounds", "");
    }
    print_message("%zu rows, %zu of them beyond doubles\n", checked, zeros);
    assert_int_equal(checked, 2 * 4 * 2 * (7 * 3 * 2 + 1));
}

/* e e^(2 Omega) is a constant beyond Omega = 20, and so are its parts: their ratios are. */
static void parts_at_any_omega(void **state)
{
    Output table = sweep("--construction all --omega 20,1000 --n 4 --d 5 --depth 4 --arithmetic "
                         "none --digits 17 --propagation");
    assert_int_equal(lines(&table), 1 + 4 * (7 * 2 + 1));
    for (size_t line = 1; line < 1 + 7 * 8; line++) {
        char text[CELL];
        cell(text, sizeof text, &table, line, "omega");
        if (strcmp(text, "20") == 0 && number(&table, line, "layer") > 1) {
            double gain = number(&table, line, "construction_gain");
            double far = number(&table, line + 4, "construction_gain");
            assert_true(gain > 0 && fabs(far / gain - 1) < 1e-12);
        }
        expect_cell(&table, line, "rounding_gain", "");
        expect_cell(&table, line, "rounding_injected_max", "");
    }
}

/* What 64 bits do not show is a bound, and named; never 0. */
static void what_is_too_small_is_a_bound(void **state)
{
    Output table = sweep("--construction transformer --omega 20 --n 4 --d 5 --depth 2 --max-bits "
                         "64 --digits 17 --propagation");
    char text[1024];
    cell(text, sizeof text, &table, 2, "bounds");
    assert_non_null(strstr(text, "construction_injected_max;construction_inherited_max"));
    assert_non_null(strstr(text, "rounding_injected_max"));
    assert_true(number(&table, 2, "construction_inherited_max") > 0);
}

SUBJECT(propagation_program)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_columns_stay),
        cmocka_unit_test(parts_add_up_in_every_row),
        cmocka_unit_test(parts_at_any_omega),
        cmocka_unit_test(what_is_too_small_is_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
