/*
 * export: what it writes is the point, read back by --weights to the same digits; and the
 * numbers beside it are the errors' own.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "../given.h"
#include "../program.h"
#include "../safetensors_samples.h"

#include "../../harness/commands/commands.h"
#include "../../harness/evaluate/evaluate.h"
#include "../../harness/models/safetensors.h"
#include "../unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What reading back takes until the reader knows the names of results. */
/* export subtracts, so that r(T') is written with the digits that its construction error needs. */
#define READ_BACK "--weights %out.safetensors --reference subtract "

/* Exports the point of a line to out.safetensors; the exit code, its message in given. */
static int export_line(Given *given, const char *line)
{
    char full[1024];
    snprintf(full, sizeof full, "-o %%out.safetensors %s", line);
    int status = given_read(given, COMMAND_EXPORT, full);
    if (status != 0) {
        return status;
    }
    stderr_hold(&given->scratch);
    /* The words of the line are gone: the grid's options name freed memory no more. */
    RunOptions run = given->run;
    run.output = path_in(&given->scratch, "out.safetensors");
    status = command_export(&given->grid, &run);
    stderr_take(given->message, &given->scratch);
    return status;
}

/* What was exported. */
static SafetensorsFile *open_out(const Given *given)
{
    SafetensorsFile *file;
    assert_int_equal(safetensors_open(&file, path_in(&given->scratch, "out.safetensors")), 0);
    return file;
}

static void export_good(Given *given, const char *line)
{
    int status = export_line(given, line);
    if (status != 0 || given->message[0] != '\0') {
        fail_msg("export %s: status %d: %s", line, status, given->message);
    }
}

static const char *const read_back[] = {
    "--construction transformer --n 3 --d 4 --depth 2 --bias random --omega 9",
    "--construction transformer3 --n 3 --d 4 --depth 2 --bias random --omega 9",
    "--construction transformer --n 3 --d 4 --d-head 3 --depth 2 --mask causal --omega 9",
    "--construction transformer3 --n 3 --d 4 --d-head 3 --depth 2 --seed 5 --omega 9",
    "--construction attention --n 5 --d 3 --d-head 2 --heads 3 --depth 3 --omega 40",
    "--construction attention --n 5 --d 3 --depth 2 --weights normal --omega 40",
    "--construction fused --n 2 --d 3 --d-ff 7 --depth 2 --bias random --omega 1000",
    "--construction ffn3 --n 2 --d 3 --depth 2 --bias random --activation gelu --gelu two",
    "--construction fused --n 2 --d 3 --d-ff 5 --activation relu --slope 50 --omega 12",
    "--construction linear --n 4 --d 3 --depth 2 --bias random --omega 12",
    "--construction transformer --n 3 --d 4 --omega 9 --bias-row-content random --seed 3",
    "--construction transformer --n 1 --d 1 --heads 1 --d-ff 1 --omega 2 --arithmetic none",
    "--construction silu --n 3 --d 4 --depth 3 --omega 9",
    "--construction silu --n 2 --d 3 --activation gelu --gelu two --mask causal --omega 12",
    "--construction attention --n 3 --d 4 --d-head 3 --scale 1/sqrt(d_head) --omega 9",
    "--construction linear --linear block --n 4 --d 3 --d-ff 5 --depth 2 --omega 9",
};

/* Depth 2, every bias, both forms, every kind. */
static void test_reading_back(void **state)
{
    Given *given = *state;
    for (size_t i = 0; i < sizeof read_back / sizeof *read_back; i++) {
        char again[1024] = READ_BACK;
        export_good(given, read_back[i]);
        char *drawn = given_rows(&given->grid.points[0], false);
        /* Weights and biases come from the file, everything else as before. */
        char copy[1024], *rest = copy;
        snprintf(copy, sizeof copy, "%s", read_back[i]);
        for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
            char *value = strtok_r(rest, " ", &rest);
            if (strcmp(word, "--weights") != 0 && strcmp(word, "--bias") != 0) {
                size_t used = strlen(again);
                snprintf(again + used, sizeof again - used, "%s %s ", word, value);
            }
        }
        char *read = given_rows(given_points(given, again, 1), false);
        if (strcmp(drawn, read) != 0) {
            fail_msg("%s: drawn\n%sread back\n%s", read_back[i], drawn, read);
        }
        free(drawn);
        free(read);
    }
}

/* What was read from a file and is written again is the same point. */
static void test_writing_again(void **state)
{
    static const char *const names[] = {"%x.safetensors", "%merged.safetensors", "%ffn.safetensors",
                                        "%oblong.safetensors"};
    Given *given = *state;
    given_make(given, "x.safetensors", MADE_ATTENTION, 0, 4);
    given_make(given, "merged.safetensors", MADE_MERGED, 0, 4);
    given_make(given, "ffn.safetensors", MADE_FFN, 0, 4);
    given_make(given, "oblong.safetensors", MADE_LINEAR, 5, 4);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[256];
        snprintf(line, sizeof line, "--omega 9 --weights %s", names[i]);
        export_good(given, line);
        char *first = given_rows(&given->grid.points[0], false);
        char *again = given_rows(given_points(given, READ_BACK "--omega 9", 1), false);
        assert_string_equal(first, again);
        free(first);
        free(again);
    }
}

static const double *floats(double *out, const SafetensorsFile *file, const char *name)
{
    const SafetensorsTensor *tensor = tensor_named(file, name);
    if (tensor == NULL || tensor->count != 12 || tensor->rank != 2 || tensor->shape[0] != 3) {
        fail_msg("%s: not there, or not [3, 4]", name);
    }
    assert_int_equal(safetensors_floats(out, file, tensor), 0);
    return out;
}

static json_t *texts(const SafetensorsFile *file, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "%s.text", name);
    const char *text = safetensors_metadata(file, key);
    assert_non_null(text);
    json_t *list = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(list), 12);
    return list;
}

/* The tensor is the decimals' nearest doubles; largest: |a - b| of the decimals. */
static void largest_difference(mpfr_ptr largest, const SafetensorsFile *file, const char *left,
                               const char *right)
{
    double near_left[12], near_right[12];
    json_t *a = texts(file, left), *b = texts(file, right);
    mpfr_t x, y;
    mpfr_inits2(4096, x, y, (mpfr_ptr)0);
    mpfr_set_zero(largest, 1);
    floats(near_left, file, left);
    floats(near_right, file, right);
    for (size_t k = 0; k < 12; k++) {
        assert_int_equal(mpfr_set_str(x, json_string_value(json_array_get(a, k)), 10, MPFR_RNDN),
                         0);
        assert_int_equal(mpfr_set_str(y, json_string_value(json_array_get(b, k)), 10, MPFR_RNDN),
                         0);
        assert_true(mpfr_get_d(x, MPFR_RNDN) == near_left[k]);
        assert_true(mpfr_get_d(y, MPFR_RNDN) == near_right[k]);
        mpfr_sub(x, x, y, MPFR_RNDN);
        mpfr_abs(x, x, MPFR_RNDN);
        mpfr_max(largest, largest, x, MPFR_RNDN);
    }
    mpfr_clears(x, y, (mpfr_ptr)0);
    json_decref(a);
    json_decref(b);
}

/* text [64]: as a table has it, without its last three digits, which two roundings may move. */
static void cell_text(char *text, mpfr_srcptr value)
{
    mpfr_snprintf(text, 64, "%.13Re", value);
}

static void take_construction(void *context, const Point *point, const Row *row)
{
    char(*cells)[2][64] = context;
    (void)point;
    cell_text(cells[row->layer - 1][0], row->errors.error[ERROR_CONSTRUCTION][NORM_MAX].value);
    cell_text(cells[row->layer - 1][1], row->errors.error[ERROR_NATIVE][NORM_MAX].value);
}

/* The largest difference of two tensors of doubles. */
static double largest_error(SafetensorsFile *file, const char *left, const char *right)
{
    double machine[12], reference[12], largest = 0;
    floats(machine, file, left);
    floats(reference, file, right);
    for (size_t k = 0; k < 12; k++) {
        assert_true(isfinite(machine[k] - reference[k]));
        largest = fmax(largest, fabs(machine[k] - reference[k]));
    }
    return largest;
}

/* What another program can make of the file: r(T') - r(T_infinity) and m(T) - r(T) of every
 * layer, where the first is far below a double's last digit. */
static void test_numbers(void **state)
{
    Given *given = *state;
    char cells[2][2][64], text[64];
    bool passed;
    Shared *shared;
    mpfr_t largest;
    export_good(given, "--n 3 --d 4 --depth 2 --bias random --omega 300");
    const Point *point = &given->grid.points[0];
    assert_int_equal(shared_make(&shared, &point, 1, 0), EVALUATE_OK);
    assert_int_equal(
        point_evaluate(&passed, shared, point, &(PointSink){take_construction, NULL, cells}), 0);
    shared_clear(shared);
    SafetensorsFile *file = open_out(given);
    mpfr_init2(largest, 4096);
    for (size_t l = 0; l < 2; l++) {
        char left[32], right[32];
        snprintf(left, sizeof left, "result.%zu.r_Tprime", l);
        snprintf(right, sizeof right, "result.%zu.r_Tinf", l);
        largest_difference(largest, file, left, right);
        cell_text(text, largest);
        assert_string_equal(text, cells[l][0]);
        assert_true(mpfr_get_exp(largest) < -800);
        snprintf(left, sizeof left, "result.%zu.m_T", l);
        snprintf(right, sizeof right, "result.%zu.r_T", l);
        double native = largest_error(file, left, right);
        /* Off by no more than the nearest doubles of r are. */
        assert_true(native < strtod(cells[l][1], NULL) + 1e-15 && native < 1e-14);
    }
    mpfr_clear(largest);
    safetensors_close(file);
}

/* x Phi(x) is not x sigma(1.702 x): r(T) and r(T_infinity) by the C library, to the rounding of
 * three of its functions. */
static void test_limit(void **state)
{
    Given *given = *state;
    double x[12], original[12], limit[12];
    export_good(given, "--construction silu --activation gelu --n 3 --d 4 --omega 30");
    SafetensorsFile *file = open_out(given);
    floats(x, file, "X");
    floats(original, file, "result.0.r_T");
    floats(limit, file, "result.0.r_Tinf");
    for (size_t k = 0; k < 12; k++) {
        double gelu = x[k] * erfc(-x[k] / sqrt(2)) / 2, term = x[k] / (1 + exp(-1.702 * x[k]));
        assert_true(fabs(original[k] - gelu) < 1e-15 && fabs(limit[k] - term) < 1e-15);
    }
    safetensors_close(file);
}

static void test_metadata(void **state)
{
    static const char *const expected[][2] = {
        {"scale", "1"},
        {"activation", "gelu"},
        {"mask", "causal"},
        {"normalization", "none"},
        {"omega", "0.1"},
        {"construction", "ffn3"},
        {"result.0.columns", "0:4"},
        {"precision_bits", "128"},
        {"command",
         "headproof sweep --construction ffn3 --activation gelu --mask causal --n 3 --d "
         "4 --omega 0.1 --arithmetic none --reference subtract --seed 1 --precision 128"},
    };
    Given *given = *state;
    export_good(given, "--construction ffn3 --n 3 --d 4 --omega 0.1 --activation gelu --mask "
                       "causal --precision 128 --arithmetic none");
    SafetensorsFile *file = open_out(given);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *value = safetensors_metadata(file, expected[i][0]);
        assert_non_null(value);
        assert_string_equal(value, expected[i][1]);
    }
    assert_non_null(safetensors_metadata(file, "version"));
    long error = strtol(safetensors_metadata(file, "result.0.error_log2"), NULL, 10);
    assert_true(error < -80 && error > -128);
    assert_null(tensor_named(file, "result.0.m_T"));
    assert_non_null(tensor_named(file, "result.0.r_Tinf"));
    safetensors_close(file);
}

/* A layer may compare other columns than the next, and a bias row may have content. */
static void test_shapes_of_results(void **state)
{
    Given *given = *state;
    export_good(given, "--construction linear --linear block --n 3 --d 4 --d-ff 5 --depth 2 "
                       "--bias-row-content random");
    SafetensorsFile *file = open_out(given);
    assert_string_equal(safetensors_metadata(file, "result.0.columns"), "4:9");
    assert_string_equal(safetensors_metadata(file, "result.1.columns"), "0:4");
    assert_int_equal(tensor_named(file, "result.X_hidden")->shape[1], 5);
    assert_int_equal(tensor_named(file, "result.bias_row")->count, 9);
    safetensors_close(file);
}

static void expect_fault(Given *given, const char *line, const char *expected)
{
    int status = export_line(given, line);
    if (status != 2 || count_lines(given->message) != 1 ||
        strstr(given->message, expected) == NULL) {
        fail_msg("'%s': status %d, message \"%s\", expected \"%s\"", line, status, given->message,
                 expected);
    }
    assert_false(file_exists(path_in(&given->scratch, "out.safetensors")));
}

static void test_faults(void **state)
{
    Given *given = *state;
    expect_fault(given, "--n 3 --d 4 --omega 5,6", "token '2 points': expected one point");
    expect_fault(given, "--n 100000 --d 4 --construction linear",
                 "token '400000 entries': expected at most 200000");
    expect_fault(given, "--n 500 --d 100 --construction linear --omega 5 --precision 4096",
                 "token '4096 bits': expected results whose decimals fill at most");
    expect_fault(given, "--omga 5", "expected a flag of export");
    assert_int_equal(given_read(given, COMMAND_EXPORT, "--n 3"), 0);
    stderr_hold(&given->scratch);
    int status = command_export(&given->grid, &given->run);
    stderr_take(given->message, &given->scratch);
    assert_int_equal(status, 2);
    assert_non_null(strstr(given->message, "--output: expected the name of the file"));
}

SUBJECT(export)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_reading_back), GIVEN_TEST(test_writing_again),
        GIVEN_TEST(test_numbers),      GIVEN_TEST(test_limit),
        GIVEN_TEST(test_metadata),     GIVEN_TEST(test_shapes_of_results),
        GIVEN_TEST(test_faults),
    };
    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
