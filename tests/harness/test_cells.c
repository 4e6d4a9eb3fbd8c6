/*
 * Cells: what is printed as a value, what as a bound, and which of a row's are named as bounds.
 */
#include "../../harness/evaluate/evaluate.h"
#include "../../harness/evaluate/figure.h"
#include "../../harness/evaluate/mode.h"
#include "../../harness/table/columns.h"
#include "../../harness/table/table.h"
#include "../../reference/compare/cell.h"
#include "../fixture.h"
#include "../given.h"
#include "../program.h"
#include "../written_model.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Settling -------------------------------------------------------------------------------- */

static CellState settled(const char *value, double error)
{
    RefErrors errors;
    mpfr_t v, e;
    ref_errors_init(&errors);
    mpfr_inits2(REF_CELL_BITS, v, e, (mpfr_ptr)0);
    assert_int_equal(mpfr_set_str(v, value, 10, MPFR_RNDN), 0);
    mpfr_set_d(e, error, MPFR_RNDN);
    cell_settle(&errors.scalar[SCALAR_SCORE], v, e);
    CellState state = errors.scalar[SCALAR_SCORE].state;
    mpfr_clears(v, e, (mpfr_ptr)0);
    ref_errors_clear(&errors);
    return state;
}

/* A value halfway between two of 17 digits, to the even one of which it rounds: an error far
 * below its last bit makes one of the ends, which must be rounded outwards, round to the other. */
static void ends_are_rounded_outwards(void **state)
{
    assert_int_equal(settled("12345678901234567.5", 0), CELL_VALUE);
    assert_int_equal(settled("12345678901234567.5", 0x1p-300), CELL_BOUND); /* the lower end */
    assert_int_equal(settled("12345678901234566.5", 0x1p-300), CELL_BOUND); /* the upper end */
    assert_int_equal(settled("12345678901234567.25", 0x1p-300), CELL_VALUE);
}

/* ---- The column ------------------------------------------------------------------------------ */

static void set_value(RefCell *cell, double value)
{
    cell->state = CELL_VALUE;
    mpfr_set_d(cell->value, value, MPFR_RNDN);
}

/* The row's line as the table has it, read back. */
static size_t read_back(Row *back, const Point *point, const char *line, const char *instead)
{
    char changed[2048], *key = table_key(point);
    const char *list = strstr(line, "approximation_max;");
    assert_non_null(key);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(list - line), line, instead,
             list + strcspn(list, ","));
    size_t length = table_read_row(back, changed, strlen(changed), key, 1, false);
    free(key);
    return length;
}

static const char *const damaged[] = {"total_rms;total_max",
                                      "total_rms;rounding_max",
                                      "total_rms;",
                                      ";total_rms",
                                      "total_rm",
                                      "total_rms total_rel",
                                      "total_rms;;score_max",
                                      "score_max;total_rms",
                                      "total_rms;total_rms",
                                      "total_rms;hidden_max;xy",
                                      "status",
                                      "omega"};

/* What is written is read; another list is no row of the program's. */
static void bounds_are_read_back(void **state)
{
    Point point = {.omega = 5, .reference = REFERENCE_SUBTRACT, .max_bits = 65536};
    Row row, back;
    char *line = NULL;
    size_t size;
    point.spec.n = point.spec.d = point.spec.depth = 1;
    row_init(&row, &point);
    row_init(&back, &point);
    row.layer = 1;
    set_value(&row.errors.error[ERROR_APPROXIMATION][NORM_MAX], 1);
    set_value(&row.errors.error[ERROR_TOTAL][NORM_RMS], 2);
    set_value(&row.errors.error[ERROR_TOTAL][NORM_REL], 3);
    set_value(&row.errors.scalar[SCALAR_SCORE], 4);
    row.errors.error[ERROR_TOTAL][NORM_RMS].state = row.errors.scalar[SCALAR_SCORE].state =
        CELL_BOUND;
    row.errors.error[ERROR_APPROXIMATION][NORM_MAX].state = CELL_BOUND;
    FILE *file = open_memstream(&line, &size);
    table_write_row(file, &point, &row);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(line, ",approximation_max;total_rms;approximation_log10;score_max,"));
    assert_int_equal(
        read_back(&back, &point, line, "approximation_max;total_rms;approximation_log10;score_max"),
        size);
    assert_int_equal(back.errors.error[ERROR_APPROXIMATION][NORM_MAX].state, CELL_BOUND);
    assert_int_equal(back.errors.error[ERROR_TOTAL][NORM_RMS].state, CELL_BOUND);
    assert_int_equal(back.errors.error[ERROR_TOTAL][NORM_REL].state, CELL_VALUE);
    assert_int_equal(back.errors.scalar[SCALAR_SCORE].state, CELL_BOUND);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        assert_int_equal(read_back(&back, &point, line, damaged[i]), 0);
    }
    assert_true(bounds_has("total_rms;score_max", "score_max"));
    assert_false(bounds_has("total_rms;score_max", "score"));
    free(line);
    row_clear(&row);
    row_clear(&back);
}

/* A machine's error is a difference of doubles; only a bound of one is larger. */
static void errors_beyond_doubles_are_no_values(void **state)
{
    static const CellState states[] = {CELL_VALUE, CELL_BOUND};
    Point point = {.omega = 5, .reference = REFERENCE_SUBTRACT, .max_bits = 65536};
    point.spec.n = point.spec.d = point.spec.depth = 1;
    for (size_t i = 0; i < 2; i++) {
        Row row, back;
        char *line = NULL, *key = table_key(&point);
        size_t size;
        row_init(&row, &point);
        row_init(&back, &point);
        row.layer = 1;
        RefCell *cell = &row.errors.error[ERROR_ROUNDING][NORM_MAX];
        mpfr_set_str(cell->value, "1e999", 10, MPFR_RNDN);
        cell->state = states[i];
        FILE *file = open_memstream(&line, &size);
        table_write_row(file, &point, &row);
        assert_int_equal(fclose(file), 0);
        assert_non_null(strstr(line, "e+999,"));
        assert_int_equal(table_read_row(&back, line, size, key, 1, false),
                         states[i] == CELL_BOUND ? size : 0);
        free(line);
        free(key);
        row_clear(&row);
        row_clear(&back);
    }
}

/* ---- The program ----------------------------------------------------------------------------- */

static const char linear[] = TENSOR("blocks.0.linear.W", "[2,2]", "0", "32");

/* x -> 2x, which a machine does without an error, and no proof knows. */
static Output run_doubling(const Scratch *scratch, const char *rest)
{
    const double data[4] = {2, 0, 0, 2};
    written_model(scratch, "double.safetensors", linear, data, 4);
    return run_formatted(
        "sweep --construction linear --weights %s/double.safetensors --n 3 --quiet %s",
        scratch->directory, rest);
}

/* One order for all that takes the worst: zero, numbers by size, of equals a value before a bound,
 * infinite, not a number. */
static void the_worse_is_one_of_two(void **state)
{
    static const struct {
        CellState state;
        double value;
    } rising[] = {{CELL_ZERO, 0},       {CELL_VALUE, 1}, {CELL_BOUND, 1},
                  {CELL_VALUE, 2},      {CELL_BOUND, 3}, {CELL_NONFINITE, INFINITY},
                  {CELL_NONFINITE, NAN}};
    enum { COUNT = sizeof rising / sizeof *rising };
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            RefCell a, b;
            ref_cell_init(&a, REF_DIGITS);
            ref_cell_init(&b, REF_DIGITS);
            set_value(&a, rising[i].value);
            set_value(&b, rising[j].value);
            a.state = rising[i].state;
            b.state = rising[j].state;
            Figure left = figure_of(&a), right = figure_of(&b);
            assert_true(cell_is_worse(&a, &b) == (i > j));
            assert_true(figure_is_worse(&left, &right) == (i > j));
            ref_cell_clear(&a);
            ref_cell_clear(&b);
        }
    }
}

static void bounds_are_named(void **state)
{
    Output output = run_doubling(*state, "--omega 20,1e9 --reference subtract --max-bits 4096");
    assert_int_equal(output.code, 0);
    expect_cell(&output, 1, "bounds", "native_max;native_rms;native_rel;native_log10");
    assert_non_null(strstr(output.text,
                           ",construction_max;construction_rms;construction_rel;rounding_max;"
                           "rounding_rms;rounding_rel;native_max;native_rms;native_rel;total_max;"
                           "total_rms;total_rel;rounding_ulp;total_ulp;construction_log10;"
                           "rounding_log10;native_log10;total_log10;bias_row_max,"));
    output = run("sweep --construction transformer --n 3 --d 3 --depth 2 --omega 20 --quiet");
    expect_cell(&output, 1, "bounds", "");
    expect_cell(&output, 2, "bounds", "");
}

/* As do the tables of a search and of a trained model. */
static void searches_name_theirs(void **state)
{
    const Scratch *scratch = *state;
    (void)run_doubling(scratch, "--omega 20");
    Output output =
        expect_run(0,
                   "min-omega --construction linear --weights %s/double.safetensors --n 3 --quiet "
                   "--tolerance 1e-70",
                   scratch->directory);
    assert_true(number(&output, 1, "floor") <= 1e-70);
    assert_non_null(strstr(output.text, ",error_min;best_error;floor,ok"));
    output = run("min-omega --construction silu --n 3 --d 2 --tolerance 1e-9 --quiet");
    expect_cell(&output, 1, "bounds", "");
}

static void verify_names_its(void **state)
{
    const Scratch *scratch = *state;
    char text[65536], path[SCRATCH_PATH];
    scratch_path(path, scratch, "v.csv");
    for (int judged = 0; judged < 2; judged++) {
        Output output =
            expect_run(0,
                       "verify " GIVEN_TRAINED " --tokens 1/3/53 --omega 1e6 --reference subtract "
                       "--max-bits 256 %s -o %s",
                       judged ? "--judge construction --tolerance 1e-40" : "", path);
        expect_says(&output, 0, "construction  rounding    native     total  observed  status\n");
        assert_non_null(strstr(output.text, "    1              0     <"));
        assert_true(file_read(text, path) > 0);
        assert_non_null(strstr(
            text, judged ? ",construction_max;construction_log10;judged_log2;kl_converted_max,"
                         : ",construction_max;construction_log10;kl_converted_max,"));
    }
}

/* Points at other precisions lend the original's trajectory: no bound is smaller for it. */
static void bounds_do_not_depend_on_company(void **state)
{
    char alone[64];
    Output output = run_doubling(*state, "--omega 10 --reference subtract");
    cell(alone, sizeof alone, &output, 1, "native_max");
    output = run_doubling(*state, "--omega 10,1000 --reference subtract");
    expect_cell(&output, 1, "native_max", alone);
    output = run_doubling(*state, "--omega 10 --precision 320,auto");
    expect_cell(&output, 1, "precision_bits", "320");
    expect_cell(&output, 2, "precision_bits", "128");
}

/* Up to as many bits as the tolerance needs, or as may be had. */
static void judged_errors_raise_the_precision(void **state)
{
    static const char *const methods[] = {"difference", "subtract"};
    static const double tolerances[] = {1e-30, 1e-60, 1e-300};
    char rest[256];
    for (size_t m = 0; m < 2; m++) {
        for (size_t t = 0; t < 3; t++) {
            snprintf(rest, sizeof rest, "--omega 20 --reference %s --judge native --tolerance %g",
                     methods[m], tolerances[t]);
            Output output = run_doubling(*state, rest);
            double bound = number(&output, 1, "native_max");
            assert_int_equal(output.code, 0);
            assert_true(bound > 0 && bound <= tolerances[t] &&
                        (t == 0 || bound > tolerances[t] * 0x1p-70));
            expect_cell(&output, 1, "status", "unresolved");
        }
        snprintf(rest, sizeof rest,
                 "--omega 20 --reference %s --judge native --tolerance 1e-300 --max-bits 600",
                 methods[m]);
        Output output = run_doubling(*state, rest);
        assert_int_equal(output.code, 1);
        expect_cell(&output, 1, "precision_bits", "600");
        expect_cell(&output, 1, "status", "unresolved");
        snprintf(rest, sizeof rest,
                 "--omega 20 --reference %s --judge native --tolerance 1e-300 --max-bits 256",
                 methods[m]);
        output = run_doubling(*state, rest);
        assert_int_equal(output.code, 1);
        expect_cell(&output, 1, "precision_bits", "256");
    }
}

/* As many bits more as lack, in whole limbs, if that is not more than may be had, three times; and
 * none where no bits gave anything of r(T). */
static void bits_are_raised_up_to_the_most(void **state)
{
    Point point = {.max_bits = 256};
    assert_int_equal(point_bits_next(&point, 128, 100, 10, 0), 256);
    assert_int_equal(point_bits_next(&point, 128, 0, 10, 0), 0);
    point.max_bits = 200;
    assert_int_equal(point_bits_next(&point, 128, 100, 10, 2), 200);
    assert_int_equal(point_bits_next(&point, 128, 100, 10, 3), 0);
    point.max_bits = 128;
    assert_int_equal(point_bits_next(&point, 128, 100, 10, 0), 0);
    point.max_bits = 256;
    assert_int_equal(point_bits_next(&point, 128, 100, INFINITY, 0), 0);
    point.precision = 128;
    assert_int_equal(point_bits_next(&point, 128, 100, INFINITY, 0), 256);
}

/* What is left in the hidden column of the only token, of the size of e^(-2 Omega). */
static void the_last_token_s_hidden_columns_count(void **state)
{
    Output output = run("sweep --construction ffn3 --n 1 --d 1 --d-ff 1 --omega 3 --quiet");
    assert_true(number(&output, 1, "hidden_max") > 1e-3 * exp(-6));
}

/* Without a tolerance, and where an error is resolved, nothing is raised; nor in chaos, which no
 * precision follows. */
static void nothing_else_raises_it(void **state)
{
    Output output = run_doubling(*state, "--omega 20 --judge native");
    expect_cell(&output, 1, "precision_bits", "128");
    output = run_doubling(*state, "--omega 20 --judge construction --tolerance 1e-60");
    assert_int_equal(output.code, 1);
    expect_cell(&output, 1, "precision_bits", "128");
    expect_cell(&output, 1, "status", "fail");
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* max |x_i Q x_j| of the layer's heads, x the stream before it. */
static double largest_score(const Pair *pair, const RefBase *base, size_t layer)
{
    const Score *score = &pair->original.sublayers[layer - 1].bundles[0].score;
    size_t n = pair->original.layout.n, d = pair->original.layout.d;
    double most = 0;
    for (size_t e = 0; e < pair->original.sublayers[layer - 1].bundles[0].heads * n * n; e++) {
        size_t h = e / (n * n), i = e / n % n, j = e % n;
        long double sum = 0;
        for (size_t a = 0; a < d; a++) {
            for (size_t b = 0; b < d; b++) {
                double x = layer == 1
                               ? pair->original_x[i * d + a]
                               : mpfr_get_d(ref_base_original(base, layer - 1, i, a), MPFR_RNDN);
                double y = layer == 1
                               ? pair->original_x[j * d + b]
                               : mpfr_get_d(ref_base_original(base, layer - 1, j, b), MPFR_RNDN);
                sum += (long double)x * score->q.data[h * score->q.head_stride + a * d + b] * y;
            }
        }
        most = fmax(most, (double)fabsl(sum));
    }
    return most;
}

/* The largest over the stack is the largest of the layers, wherever that stands: of stacks that end
 * with it, and of others. */
static void scores_are_the_layers_own(void **state)
{
    CaseSpec spec = {.construction = CONSTRUCTION_ATTENTION, .n = 4, .d = 3, .heads = 2, .seed = 4};
    size_t first = 0, last = 0;
    for (spec.depth = 2; spec.depth <= 6; spec.depth++) {
        Pair pair = pair_make(&spec);
        RefBase *base = ref_base_make(&pair, 256, REF_LIMIT_NONE, NULL);
        RefErrors errors;
        double most = 0, got = 0;
        ref_errors_init(&errors);
        for (size_t layer = 1; layer <= spec.depth; layer++) {
            double expected = largest_score(&pair, base, layer);
            ref_compare(&errors, &(RefLayer){&pair, base, layer, NULL, NULL, NULL});
            got = mpfr_get_d(errors.scalar[SCALAR_SCORE].value, MPFR_RNDN);
            assert_int_equal(errors.scalar[SCALAR_SCORE].state, CELL_VALUE);
            assert_true(fabs(got - expected) <= 1e-14 * expected);
            most = fmax(most, got);
        }
        assert_true(mpfr_get_d(ref_base_score_max(base), MPFR_RNDN) == most);
        last += got == most;
        first += got < most;
        ref_errors_clear(&errors);
        ref_base_clear(base);
        case_clear(&pair);
    }
    assert_true(first > 0 && last > 0);
}

SUBJECT(cells)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_rounded_outwards),
        cmocka_unit_test(the_worse_is_one_of_two),
        cmocka_unit_test(bits_are_raised_up_to_the_most),
        cmocka_unit_test(the_last_token_s_hidden_columns_count),
        cmocka_unit_test(bounds_are_read_back),
        cmocka_unit_test(errors_beyond_doubles_are_no_values),
        SCRATCH_TEST(bounds_are_named),
        SCRATCH_TEST(searches_name_theirs),
        SCRATCH_TEST(verify_names_its),
        SCRATCH_TEST(bounds_do_not_depend_on_company),
        SCRATCH_TEST(judged_errors_raise_the_precision),
        SCRATCH_TEST(nothing_else_raises_it),
        cmocka_unit_test(scores_are_the_layers_own),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
