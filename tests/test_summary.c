/*
 * What a terminal shows of a sweep: which rows of a deep stack, and the short table at the end.
 */
#include "../harness/evaluate/rows.h"
#include "../harness/table/summary.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

static Point point_of(size_t depth)
{
    return (Point){.spec = {.construction = CONSTRUCTION_SILU,
                            .n = 1,
                            .d = 1,
                            .d_ff = 4,
                            .heads = 1,
                            .depth = depth,
                            .seed = 1},
                   .omega = 20,
                   .arithmetic = ARITHMETIC_NONE,
                   .reference = REFERENCE_SUBTRACT,
                   .max_bits = 65536};
}

/* The layers that a terminal gets of a stack, in order. */
static void expect_layers(size_t depth, const size_t *layers, size_t count)
{
    Point point = point_of(depth);
    const Point *points = &point;
    Shared *shared;
    PointRows rows;
    assert_int_equal(shared_make(&shared, &points, 1, true, 0, NULL), EVALUATE_OK);
    assert_int_equal(rows_evaluate(&rows, shared, &point, true), EVALUATE_OK);
    const char *line = rows.text + rows.csv;
    assert_int_equal(count_lines(line), count);
    for (size_t i = 0; i < count; i++) {
        size_t layer;
        assert_int_equal(sscanf(line, "%*s %*s %zu", &layer), 1);
        assert_int_equal(layer, layers[i]);
        line = strchr(line, '\n') + 1;
    }
    rows_clear(&rows);
    shared_clear(shared);
}

/* All of 24; of more the first four, every eighth and the last. */
static void deep_stacks_are_shown_in_part(void **state)
{
    static const size_t all[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24};
    static const size_t part[] = {1, 2, 3, 4, 8, 16, 24, 27};
    (void)state;
    expect_layers(24, all, 24);
    expect_layers(25, (size_t[]){1, 2, 3, 4, 8, 16, 24, 25}, 8);
    expect_layers(27, part, 8);
    expect_layers(32, (size_t[]){1, 2, 3, 4, 8, 16, 24, 32}, 8);
}

/* The last line of the table of one point, whose cell is this. */
static void expect_cell_of(SummaryCell cell, const char *expected)
{
    Point point = point_of(1);
    Grid grid = {.points = &point, .count = 1};
    PointSummary summary;
    char *text = NULL;
    size_t size = 0, first = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    summary_init(&summary);
    summary.construction[0] = cell;
    assert_int_equal(summary_print(file, &grid, &first, 1, &summary), 0);
    assert_int_equal(fclose(file), 0);
    char line[64];
    snprintf(line, sizeof line, "silu                20  %9s\n", expected);
    const char *last = strstr(text, "silu");
    assert_non_null(last);
    assert_string_equal(last, line);
    free(text);
}

/* Two digits, as the C library rounds them: never ten before the point. */
static void cells_have_two_digits(void **state)
{
    static const double values[] = {9.96e-15, 9.94e-15, 9.951, 1, 1.04e-5, 2.5e-300, 9.99, 99.6};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(text, sizeof text, "%.1e", values[i]);
        expect_cell_of((SummaryCell){log10(values[i]), false}, text);
        snprintf(text, sizeof text, "<%.1e", values[i]);
        expect_cell_of((SummaryCell){log10(values[i]), true}, text);
    }
    expect_cell_of((SummaryCell){log10(9.97) - 5001, false}, "1.0e-5000");
    expect_cell_of((SummaryCell){-INFINITY, false}, "0");
    expect_cell_of((SummaryCell){INFINITY, false}, "inf");
    expect_cell_of((SummaryCell){NAN, false}, "-");
}

/* Of points in one line of the table the worst is shown; of equals, the one that is a bound. */
static void the_worst_of_points_is_shown(void **state)
{
    static const SummaryCell cells[][2] = {{{-15, false}, {-12, false}},
                                           {{-12, false}, {-15, false}},
                                           {{-12, true}, {-12, false}},
                                           {{-12, false}, {-12, true}},
                                           {{-INFINITY, false}, {-12, false}}};
    static const char *const expected[] = {"1.0e-12", "1.0e-12", "<1.0e-12", "<1.0e-12", "1.0e-12"};
    static const size_t points[] = {0, 1};
    Point two[] = {point_of(1), point_of(1)};
    Grid grid = {.points = two, .count = 2};
    (void)state;
    two[1].spec.seed = 2;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        PointSummary summary[2];
        char *text = NULL, last[32];
        size_t size = 0;
        FILE *file = open_memstream(&text, &size);
        assert_non_null(file);
        for (size_t k = 0; k < 2; k++) {
            summary_init(&summary[k]);
            summary[k].construction[0] = cells[i][k];
        }
        assert_int_equal(summary_print(file, &grid, points, 2, summary), 0);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(count_lines(text), 3);
        assert_int_equal(sscanf(strstr(text, "silu"), "silu 20 %31s", last), 1);
        assert_string_equal(last, expected[i]);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deep_stacks_are_shown_in_part),
        cmocka_unit_test(cells_have_two_digits),
        cmocka_unit_test(the_worst_of_points_is_shown),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
