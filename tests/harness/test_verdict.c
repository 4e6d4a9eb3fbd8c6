/*
 * The verdict on one row, from cells set by hand: statuses, what passes a tolerance, ulps and the
 * logarithm.
 */
#include "../../harness/evaluate/rows.h"
#include "../../harness/evaluate/verdict.h"
#include "../../harness/table/columns.h"
#include "../program.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Point point;
    Row row;
} Fixture;

/* Every error 1e-10 of a result of size 3, judged by the largest entry of the total. */
static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    f->point = (Point){.arithmetic = ARITHMETIC_F64,
                       .judged = true,
                       .tolerance = 1e-9,
                       .judge = ERROR_TOTAL,
                       .norm = NORM_MAX};
    row_init(&f->row, &f->point);
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        for (int norm = 0; norm < NORM_COUNT; norm++) {
            f->row.errors.error[kind][norm].state = CELL_VALUE;
            mpfr_set_d(f->row.errors.error[kind][norm].value, 1e-10, MPFR_RNDN);
        }
    }
    mpfr_set_d(f->row.errors.max_original, 3, MPFR_RNDN);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    row_clear(&f->row);
    free(f);
    return 0;
}

static RefCell *cell_of(Fixture *f, ErrorKind kind, Norm norm)
{
    return &f->row.errors.error[kind][norm];
}

static void set(Fixture *f, ErrorKind kind, CellState state, double value)
{
    cell_of(f, kind, NORM_MAX)->state = state;
    mpfr_set_d(cell_of(f, kind, NORM_MAX)->value, value, MPFR_RNDN);
}

static void expect(Fixture *f, Status status, bool passes)
{
    row_finish(&f->point, &f->row);
    assert_string_equal(status_name(f->row.status), status_name(status));
    assert_int_equal(row_passes(&f->point, &f->row), passes);
}

static void a_tolerance_is_met_or_not(void **state)
{
    Fixture *f = *state;
    expect(f, STATUS_OK, true);
    set(f, ERROR_TOTAL, CELL_VALUE, 1e-9); /* equal is within */
    expect(f, STATUS_OK, true);
    set(f, ERROR_TOTAL, CELL_VALUE, nextafter(1e-9, 1));
    expect(f, STATUS_FAIL, false);
    set(f, ERROR_TOTAL, CELL_ZERO, 0);
    expect(f, STATUS_OK, true);
    set(f, ERROR_TOTAL, CELL_ABSENT, 0);
    expect(f, STATUS_OK, false);
    f->point.judged = false;
    set(f, ERROR_TOTAL, CELL_VALUE, 1);
    expect(f, STATUS_OK, true);
}

static void what_is_no_number_never_passes(void **state)
{
    Fixture *f = *state;
    for (int judged = 0; judged < 2; judged++) {
        f->point.judged = judged;
        set(f, ERROR_NATIVE, CELL_NONFINITE, NAN);
        expect(f, STATUS_OVERFLOW, false);
        set(f, ERROR_NATIVE, CELL_VALUE, 1e-10);
        set(f, ERROR_TOTAL, CELL_NONFINITE, INFINITY);
        expect(f, STATUS_OVERFLOW, false);
        set(f, ERROR_TOTAL, CELL_VALUE, 1e-10);
        expect(f, STATUS_OK, true);
    }
}

static void what_is_unresolved_passes_by_its_bound(void **state)
{
    Fixture *f = *state;
    set(f, ERROR_CONSTRUCTION, CELL_BOUND, 1e-30);
    expect(f, STATUS_UNRESOLVED, true);
    set(f, ERROR_TOTAL, CELL_BOUND, 1e-8);
    expect(f, STATUS_UNRESOLVED, false);
    set(f, ERROR_TOTAL, CELL_BOUND, 1e-9); /* equal is within */
    expect(f, STATUS_UNRESOLVED, true);
    set(f, ERROR_TOTAL, CELL_BOUND, 1e-10);
    expect(f, STATUS_UNRESOLVED, true);
    set(f, ERROR_CONSTRUCTION, CELL_VALUE, 1e-30); /* what is judged is only bounded all the same */
    expect(f, STATUS_UNRESOLVED, true);
    f->point.judged = false;
    expect(f, STATUS_OK, true);
}

/* Of a result that is 0, or that a double cannot hold, no error says anything. */
static void results_outside_the_format_are_vacuous(void **state)
{
    static const double sizes[] = {0, 1e-320, 0x1p-1023};
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mpfr_set_d(f->row.errors.max_original, sizes[i], MPFR_RNDN);
        expect(f, STATUS_VACUOUS, false);
    }
    mpfr_set_d(f->row.errors.max_original, 0x1p-1022, MPFR_RNDN);
    expect(f, STATUS_OK, true);
    mpfr_set_ui_2exp(f->row.errors.max_original, 1, 1025, MPFR_RNDN);
    expect(f, STATUS_VACUOUS, false);
    f->point.arithmetic = ARITHMETIC_NONE; /* no format to be outside of */
    expect(f, STATUS_OK, true);
    mpfr_set_zero(f->row.errors.max_original, 1);
    expect(f, STATUS_VACUOUS, false);
}

static void a_contradiction_is_an_error(void **state)
{
    Fixture *f = *state;
    f->row.errors.contradiction = true;
    expect(f, STATUS_ERROR, false);
    f->point.judged = false;
    expect(f, STATUS_ERROR, false);
}

/* Beyond MPFR's exponents nothing is known, whatever the cells say. */
static void a_lost_range_is_an_error(void **state)
{
    Fixture *f = *state;
    f->row.errors.left_range = true;
    expect(f, STATUS_ERROR, false);
    f->point.judged = false;
    set(f, ERROR_TOTAL, CELL_ZERO, 0);
    expect(f, STATUS_ERROR, false);
}

/* What the row has in the column of that name. */
static void expect_in(Fixture *f, const char *column, CellState state, double value)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS_MOST);
    column_value(&cell, column_find(column), &f->point, &f->row);
    assert_int_equal(cell.state, state);
    if (state == CELL_VALUE) {
        double got = mpfr_get_d(cell.value, MPFR_RNDN);
        assert_true(value > 0 ? got == value : fabs(got - value) < 1e-12);
    }
    mpfr_clear(cell.value);
}

/* ulp(3) = 2^-51, ulp(1) = 2^-52, the next below 1 half of that. */
static void ulps_are_those_of_the_largest_entry(void **state)
{
    static const struct {
        double size;
        int ulp;
    } sizes[] = {{3, -51}, {1, -52}, {2, -51}, {0x1.fffffffffffffp-1, -53}, {0x1p-1022, -1074}};
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mpfr_set_d(f->row.errors.max_original, sizes[i].size, MPFR_RNDN);
        set(f, ERROR_TOTAL, CELL_VALUE, ldexp(5, sizes[i].ulp));
        set(f, ERROR_ROUNDING, CELL_VALUE, ldexp(0.75, sizes[i].ulp));
        expect_in(f, "total_ulp", CELL_VALUE, 5);
        if (i < 4) {
            expect_in(f, "rounding_ulp", CELL_VALUE, 0.75);
        }
    }
}

static void the_logarithm_is_to_the_base_of_ten(void **state)
{
    Fixture *f = *state;
    mpfr_set_str(cell_of(f, ERROR_CONSTRUCTION, NORM_MAX)->value, "1e-868", 10, MPFR_RNDN);
    expect_in(f, "construction_log10", CELL_VALUE, -868);
    set(f, ERROR_CONSTRUCTION, CELL_ZERO, 0);
    expect_in(f, "construction_log10", CELL_ABSENT, 0);
}

/* Patched heads under the structured kernel, where e^(-2 Omega) is absorbed; and SiLU heads at
 * Omega = 1, which agree with the original nowhere. */
static void identical_is_the_share_of_equal_entries(void **state)
{
    Output same = run("sweep --construction attention --kernel structured --omega 30 --n 7 --d 5");
    Output other = run("sweep --construction silu --kernel structured --omega 1 --n 7 --d 5");
    assert_true(number(&same, 1, "identical") == 1);
    assert_true(number(&other, 1, "identical") == 0);
}

static double known(SummaryCell cell)
{
    return isnan(cell.log10) ? 1 : cell.log10;
}

static void expect_same_errors(const SummaryErrors *a, const SummaryErrors *b)
{
    for (int figure = 0; figure < SUMMARY_ERRORS * SUMMARY_LAYERS; figure++) {
        int error = figure / SUMMARY_LAYERS, slot = figure % SUMMARY_LAYERS;
        assert_true(fabs(known(a->of[error][slot]) - known(b->of[error][slot])) < 1e-15);
    }
}

/* The first line that ends in ",fail", from 1; 0: there is none. */
static size_t first_failure(const char *rows)
{
    for (size_t line = 1; *rows != '\0'; line++) {
        const char *end = strchr(rows, '\n');
        assert_true(end != NULL && end - rows > 5);
        if (strncmp(end - 5, ",fail", 5) == 0) {
            return line;
        }
        rows = end + 1;
    }
    return 0;
}

static Point fused_at(double omega)
{
    Point point = {.omega = omega,
                   .arithmetic = ARITHMETIC_F64,
                   .reference = REFERENCE_DIFFERENCE,
                   .max_bits = 65536,
                   .digits = 17,
                   .judged = true,
                   .tolerance = 1.5e-7,
                   .judge = ERROR_CONSTRUCTION};
    point.spec = (CaseSpec){.construction = CONSTRUCTION_FUSED,
                            .n = 3,
                            .d = 4,
                            .d_ff = 16,
                            .heads = 1,
                            .depth = 4,
                            .seed = 1};
    return point;
}

/* What a point's evaluation says of its rows, their text says too: of points that pass and fail at
 * the first layer or later, of a proven zero, of one beyond the doubles. */
static void the_outcome_is_the_texts(void **state)
{
    static const double omegas[] = {2, 8.5, 20, 1000};
    size_t failed = 0;
    for (size_t i = 0; i < sizeof omegas / sizeof *omegas; i++) {
        Point point = fused_at(omegas[i]);
        const Point *points = &point;
        PointRows rows;
        PointOutcome read;
        Shared *shared = shared_make(&points, 1, 0);
        assert_non_null(shared);
        assert_true(rows_evaluate(&rows, shared, &point));
        assert_int_equal(rows_read(&read, rows.text, rows.length, &point), rows.length);
        assert_int_equal(rows.outcome.failed_layer, first_failure(rows.text));
        assert_int_equal(rows.outcome.failed_layer, read.failed_layer);
        assert_int_equal(rows.outcome.failed_status, read.failed_status);
        const PointSummary *a = &rows.outcome.summary, *b = &read.summary;
        expect_same_errors(&a->largest, &b->largest);
        expect_same_errors(&a->relative, &b->relative);
        assert_true(fabs(a->sizes.least - b->sizes.least) < 1e-12);
        assert_true(fabs(a->sizes.most - b->sizes.most) < 1e-12);
        failed += rows.outcome.failed_layer > 0;
        rows_clear(&rows);
        shared_clear(shared);
    }
    assert_true(failed > 0 && failed < sizeof omegas / sizeof *omegas);
}

SUBJECT(verdict)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ROW(a_tolerance_is_met_or_not),
        ROW(what_is_no_number_never_passes),
        ROW(what_is_unresolved_passes_by_its_bound),
        ROW(results_outside_the_format_are_vacuous),
        ROW(a_contradiction_is_an_error),
        ROW(a_lost_range_is_an_error),
        ROW(ulps_are_those_of_the_largest_entry),
        ROW(the_logarithm_is_to_the_base_of_ten),
        cmocka_unit_test(the_outcome_is_the_texts),
        cmocka_unit_test(identical_is_the_share_of_equal_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
