/*
 * The short table at the end of a sweep.
 */
#include "../../harness/table/summary.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 8 };

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

/* The table of points [count], each with these cells after layer 1; free it. */
static char *table_of(Point *points, size_t count, const SummaryCell *total,
                      const SummaryCell *construction)
{
    Grid grid = {.points = points, .count = count};
    PointSummary summaries[POINTS_MOST];
    size_t order[POINTS_MOST], size = 0;
    char *text = NULL;
    FILE *file = open_memstream(&text, &size);
    assert_true(file != NULL && count <= POINTS_MOST);
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
        summaries[i] = (PointSummary){0};
        for (int slot = 0; slot < SUMMARY_LAYERS; slot++) {
            SummaryErrors *errors = &summaries[i].largest;
            errors->of[1][slot] = construction[i];
            errors->of[0][slot] = errors->of[2][slot] =
                total != NULL ? total[i] : (SummaryCell){NAN, false};
        }
    }
    summary_table_print(file, &grid, order, count, summaries);
    assert_int_equal(fclose(file), 0);
    return text;
}

/* The table of one point, in which no axis varies, so that it has Omega, and whose cell is this. */
static void expect_cell_of(SummaryCell cell, const char *expected)
{
    Point point = point_of(1);
    char line[128];
    char *text = table_of(&point, 1, NULL, &cell);
    snprintf(line, sizeof line, "largest at layer  construction\nomega%25d\n   20%25s\n", 1,
             expected);
    assert_string_equal(text, line);
    free(text);
}

/* Two digits, as the C library rounds them: never ten before the point. */
static void cells_have_two_digits(void **state)
{
    static const double values[] = {9.96e-15, 9.94e-15, 9.951, 1, 1.04e-5, 2.5e-300, 9.99, 99.6};
    char text[32];
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
    Point two[] = {point_of(1), point_of(1)};
    two[1].spec.seed = 2;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char last[32];
        char *text = table_of(two, 2, NULL, cells[i]);
        assert_int_equal(count_lines(text), 3);
        assert_int_equal(sscanf(text, "largest at layer construction omega 1 20 %31s", last), 1);
        assert_string_equal(last, expected[i]);
        free(text);
    }
}

/* A column for what varies, and none for what does not, or follows from another axis (d_ff from
 * d).  Lines stand in the order of their points, and are not joined where an axis differs. */
static void what_varies_has_a_column(void **state)
{
    static const SummaryCell total[] = {{-1, false}, {-2, false}, {-3, true}, {-4, false}};
    static const SummaryCell construction[] = {
        {-900, false}, {-2, false}, {-INFINITY, false}, {-4, false}};
    Point points[] = {point_of(1), point_of(1), point_of(1), point_of(1)};
    for (size_t i = 0; i < 4; i++) {
        points[i].arithmetic = ARITHMETIC_F64;
        points[i].spec.d = i < 2 ? 1 : 20;
        points[i].spec.d_ff = 4 * points[i].spec.d;
        points[i].penalty = i % 2 == 0 ? PENALTY_POSITIVE : PENALTY_NEGATIVE;
    }
    char *text = table_of(points, 4, total, construction);
    assert_string_equal(text, "largest at layer  total     construction  native\n"
                              " d  penalty              1             1         1\n"
                              " 1  positive       1.0e-01      1.0e-900   1.0e-01\n"
                              " 1  negative       1.0e-02       1.0e-02   1.0e-02\n"
                              "20  positive      <1.0e-03             0  <1.0e-03\n"
                              "20  negative       1.0e-04       1.0e-04   1.0e-04\n");
    free(text);
}

/* Stacks, long exponents and many axes: no line is longer than 80 columns, and every value that
 * varies is said.  A depth has its own columns; layers between are left away first. */
static void no_line_is_too_long(void **state)
{
    static const SummaryCell cells[] = {
        {-868588.5, true}, {-868588.5, true}, {-868588.5, true}, {-868588.5, true}};
    Point points[] = {point_of(24), point_of(96), point_of(24), point_of(96)};
    for (int axes = 0; axes < 2; axes++) {
        for (size_t i = 0; i < 4; i++) {
            Point *point = &points[i];
            point->arithmetic = i % 2 == 0 ? ARITHMETIC_BF16_AUTOCAST : ARITHMETIC_F64;
            if (axes > 0) {
                point->spec.construction =
                    i % 2 == 0 ? CONSTRUCTION_TRANSFORMER : CONSTRUCTION_TRANSFORMER3;
                point->omega = 1e15 + (double)i;
                point->spec.n = 1234567 + i;
                point->spec.heads = 1 + i;
                point->kernel = i % 2 == 0 ? KERNEL_DENSE : KERNEL_STRUCTURED;
            }
            point->penalty = i < 2 ? PENALTY_POSITIVE : PENALTY_NEGATIVE;
        }
        char *text = table_of(points, 4, cells, cells);
        for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
            if (strcspn(line, "\n") > 80) {
                fail_msg("%s", text);
            }
        }
        assert_non_null(strstr(text, axes > 0 ? "n 1234570" : "96  f64            negative"));
        assert_non_null(strstr(text, axes > 0 ? "penalty negative" : "        24"));
        free(text);
    }
}

static void set_cell(Row *row, ErrorKind kind, Norm norm, const char *value)
{
    RefCell *cell = &row->errors.error[kind][norm];
    cell->state = CELL_VALUE;
    mpfr_set_str(cell->value, value, 10, MPFR_RNDN);
}

/* The summary of one stack whose absolute errors after each layer are these, with a construction
 * error of the result's 1e-5th and a native one of its 1e-10th; free it. */
static char *stack_of(const char *const sizes[][2], size_t depth)
{
    Point point = point_of(depth);
    Grid grid = {.points = &point, .count = 1};
    PointSummary summary = {0};
    Row row;
    char *text = NULL;
    size_t first = 0, size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    row_init(&row, &point);
    for (row.layer = 1; row.layer <= depth; row.layer++) {
        set_cell(&row, ERROR_CONSTRUCTION, NORM_MAX, sizes[row.layer - 1][0]);
        set_cell(&row, ERROR_CONSTRUCTION, NORM_REL, "1e-5");
        set_cell(&row, ERROR_NATIVE, NORM_MAX, sizes[row.layer - 1][1]);
        set_cell(&row, ERROR_NATIVE, NORM_REL, "1e-10");
        summary_add(&summary, &point, &row);
    }
    row_clear(&row);
    summary_table_print(file, &grid, &first, 1, &summary);
    assert_int_equal(fclose(file), 0);
    return text;
}

/* A stream that grows or shrinks by more than 1000, after whichever layer, has errors relative to
 * it; by less, and where there is one layer, the largest entry.  What is beyond the doubles is no
 * exception. */
static void streams_that_shrink_have_relative_errors(void **state)
{
    static const struct {
        size_t depth;
        const char *sizes[3][2];
        const char *expected;
    } stacks[] = {
        {2, {{"1e-5", "1e-10"}, {"1.1e-8", "1.1e-13"}}, "largest at layer  construction"},
        {2, {{"1e-5", "1e-10"}, {"0.9e-8", "0.9e-13"}}, "relative, at layer  construction"},
        {2, {{"1e-5", "1e-10"}, {"1.1e-2", "1.1e-7"}}, "relative, at layer  construction"},
        {3, {{"1e-5", "1e-10"}, {"1e-305", "1e-310"}, {"1e-5", "1e-10"}}, "relative, at layer  "},
        {2, {{"1e-400", "1e-405"}, {"1e-404", "1e-409"}}, "relative, at layer  construction"},
        {2, {{"1e-400", "1e-405"}, {"1e-402", "1e-407"}}, "largest at layer  construction"},
        {1, {{"1e-5", "1e-2"}}, "largest at layer  construction"}};
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        char *text = stack_of(stacks[i].sizes, stacks[i].depth);
        if (strstr(text, stacks[i].expected) != text) {
            fail_msg("%s", text);
        }
        if (*stacks[i].expected == 'r') {
            assert_non_null(strstr(text, "1.0e-05  1.0e-05  1.0e-10\n"));
        }
        free(text);
    }
}

/* Logarithms from 1e9 on have lost the decimals that a size of 1000 takes: they do not count. */
static void sizes_without_decimals_do_not_count(void **state)
{
    static const struct {
        double log10_error;
        Norm norm;
    } cases[] = {{-0.9e9, NORM_REL}, {-1.1e9, NORM_MAX}, {-1e300, NORM_MAX}, {1.1e9, NORM_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        StreamSizes sizes = STREAM_SIZES_NONE;
        double error = cases[i].log10_error;
        stream_sizes_add(&sizes, -5, -5);
        stream_sizes_add(&sizes, error, error - 64);
        assert_int_equal(stream_sizes_norm(sizes, true), cases[i].norm);
    }
}

SUBJECT(summary)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_have_two_digits),
        cmocka_unit_test(the_worst_of_points_is_shown),
        cmocka_unit_test(what_varies_has_a_column),
        cmocka_unit_test(no_line_is_too_long),
        cmocka_unit_test(streams_that_shrink_have_relative_errors),
        cmocka_unit_test(sizes_without_decimals_do_not_count),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
