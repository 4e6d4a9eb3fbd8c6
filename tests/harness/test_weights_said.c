/*
 * Properties that a weights file must state of its model, or the user for it; the inputs that it
 * brings; and files of an X alone.
 */
#include "../given.h"
#include "../program.h"

#include "../../harness/evaluate/schedule.h"
#include "../../harness/point/point.h"
#include "../../harness/models/safetensors_values.h"
#include "../../harness/models/safetensors_write.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRAINED "--weights " GIVEN_TRAINED " "

/* ---- What a model does is said, by its file or by the user ----------------------------------- */

static void make_silent(const Given *given)
{
    given_make(given, "silent.safetensors", MADE_TRANSFORMER, 0, 4);
    given_make(given, "silent-attention.safetensors", MADE_ATTENTION, 0, 4);
    given_make(given, "silent-merged.safetensors", MADE_MERGED, 0, 4);
    given_make(given, "silent-ffn.safetensors", MADE_FFN, 0, 4);
    given_make(given, "silent-linear.safetensors", MADE_LINEAR, 3, 4);
}

static const struct {
    const char *line, *lacks;
} lacking[] = {
    {"%silent.safetensors",
     ": activation (one of silu, relu, gelu, gelu_new), scale (1 or 1/sqrt(d_head)), mask "
     "(none or "
     "causal), "
     "normalization (none), blocks (sequential, where networks read what attention wrote): "
     "expected in the file's metadata, or as --activation, --scale, --mask, --normalization, "
     "--blocks\n"},
    {"%silent.safetensors --activation silu --scale 1 --mask none --normalization none",
     ": blocks (sequential, where networks read what attention wrote): expected in the file's "
     "metadata, or as --blocks\n"},
    {"%silent.safetensors --activation silu --scale 1 --mask none",
     ": normalization (none), blocks (sequential, where"},
    {"%silent.safetensors --activation silu --scale 1 --normalization none --blocks sequential",
     ": mask (none or causal): expected"},
    {"%silent.safetensors --activation silu --mask causal --normalization none --blocks "
     "sequential",
     ": scale (1 or 1/sqrt(d_head)): expected"},
    {"%silent.safetensors --scale 1 --mask causal --normalization none --blocks sequential",
     ": activation (one of silu, relu, gelu, gelu_new): expected"},
    {"%silent-attention.safetensors --activation silu --scale 1 --mask causal",
     ": normalization (none): expected"},
    {"%silent-attention.safetensors",
     ": scale (1 or 1/sqrt(d_head)), mask (none or causal), normalization (none): expected"},
    {"%silent-merged.safetensors --mask none --normalization none",
     ": scale (1 or 1/sqrt(d_head)): expected"},
    {"%silent-ffn.safetensors",
     ": activation (one of silu, relu, gelu, gelu_new), normalization (none): expected"},
    {"%silent-linear.safetensors", ": normalization (none): expected"},
};

/* Nothing is assumed of a file, in any command that reads one. */
static void test_what_is_missing(void **state)
{
    static const Command models[] = {COMMAND_VERIFY, COMMAND_CONVERT, COMMAND_ATTRIBUTE};
    static const Command weights[] = {COMMAND_SWEEP, COMMAND_DEPTH, COMMAND_EXPORT, COMMAND_CHECK};
    Given *given = *state;
    make_silent(given);
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        char line[256], expected[512];
        snprintf(expected, sizeof expected, "the metadata do not say%s", lacking[i].lacks);
        for (size_t c = 0; c < sizeof models / sizeof *models; c++) {
            given_expect_fault(given, models[c], lacking[i].line, expected);
        }
        snprintf(line, sizeof line, "--weights %s", lacking[i].line);
        for (size_t c = 0; c < sizeof weights / sizeof *weights; c++) {
            given_expect_fault(given, weights[c], line, expected);
        }
        snprintf(line, sizeof line, "--tolerance 1 --weights %s", lacking[i].line);
        given_expect_fault(given, COMMAND_MIN_OMEGA, line, expected);
    }
    /* What is counted hangs on neither scale nor mask. */
    given_expect_fault(
        given, COMMAND_COST, lacking[0].line,
        "say: activation (one of silu, relu, gelu, gelu_new), normalization (none): expected");
}

/* A flag says what a file does not, and the rows are those of a file that says it. */
static void test_flags_say(void **state)
{
    static const struct {
        const char *silent, *said, *flags;
    } same[] = {
        {"silent-attention", "x", "--scale 1/sqrt(d_head) --mask causal --normalization none"},
        {"silent-merged", "merged", "--scale 1 --mask none --normalization none"},
        {"silent-ffn", "ffn", "--activation gelu --normalization none"},
        {"silent-linear", "square", "--normalization none"},
    };
    Given *given = *state;
    given_make_all(given);
    make_silent(given);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char line[256];
        snprintf(line, sizeof line, "--weights %%%s.safetensors --omega 8", same[i].said);
        char *said = given_rows(given_points(given, line, 1), false);
        snprintf(line, sizeof line, "--weights %%%s.safetensors --omega 8 %s", same[i].silent,
                 same[i].flags);
        const Point *point = given_points(given, line, 1);
        char *flags = given_rows(point, false);
        assert_string_equal(said, flags);
        /* The command that is printed says it too. */
        char *again = given_rows_again(given, point, false);
        assert_string_equal(flags, again);
        free(again);
        free(flags);
        free(said);
    }
    const Point *points = given_points(
        given,
        "--weights %silent.safetensors --activation silu,relu --scale 1,1/sqrt(d_head) --mask "
        "none,causal --normalization none --blocks sequential",
        8);
    for (size_t i = 0; i < 8; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_false(points_share_base(&points[i], &points[j]));
        }
    }
}

static void test_saying_and_contradicting(void **state)
{
    static const char *const faults[][2] = {
        {TRAINED "--scale 1",
         "--scale: token '1': the weights file " GIVEN_TRAINED " has scale = 1/sqrt(d_head)"},
        {TRAINED "--n 3 --scale 1/sqrt(d_head),1", "--scale: token '1': the weights file"},
        {TRAINED "--normalization layernorm",
         "token 'layernorm': the weights file " GIVEN_TRAINED " has normalization = none"},
        {TRAINED "--scale 0.125", "--scale: token '0.125': expected one of 1, 1/sqrt(d_head)"},
        {"--weights %merged.safetensors --scale 1/sqrt(d_head)", "has scale = 1"},
        {"--weights %silent-merged.safetensors --scale 1/sqrt(d_head) --mask none --normalization "
         "none",
         "expected 1 where Q is dense"},
        {"--scale 1/sqrt(d_head)", "expected 1 where Q is dense"},
    };
    Given *given = *state;
    given_make_all(given);
    make_silent(given);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        given_expect_fault(given, COMMAND_SWEEP, faults[i][0], faults[i][1]);
    }
    given_points(given, TRAINED "--n 3 --scale 1/sqrt(d_head) --normalization none", 1);
    /* Drawn weights have no norm, and a scale that can be chosen. */
    const Point *points =
        given_points(given, "--d-head 3 --scale 1,1/sqrt(d_head) --normalization none", 2);
    assert_false(points_share_base(&points[0], &points[1]));
    given_points(given, "--construction fused --scale 1,1/sqrt(d_head)", 1);
}

/* ---- A file's own inputs ------------------------------------------------------------------- */

enum { VOCABULARY = 5, CONTEXT = 6, LENGTH = 4 };

/* Weights of attention with embeddings, and tuples [tuples, LENGTH] of tokens. */
static void make_embedded(const Given *given, const char *name, size_t tuples,
                          const int64_t *tokens, const double *w_e, const double *w_pos)
{
    char path[SCRATCH_PATH], from[SCRATCH_PATH];
    double values[64];
    SafetensorsFile *file;
    SafetensorsWriter *writer = safetensors_writer_make();
    const size_t e[] = {VOCABULARY, 3}, pos[] = {CONTEXT, 3}, shape[] = {tuples, LENGTH};
    static double kept[32][64];
    size_t used = 0;
    scratch_path(from, &given->scratch, "attention.safetensors");
    scratch_path(path, &given->scratch, name);
    assert_int_equal(safetensors_open(&file, from), 0);
    safetensors_writer_metadata(writer, "scale", "1/sqrt(d_head)");
    safetensors_writer_metadata(writer, "mask", "causal");
    safetensors_writer_metadata(writer, "normalization", "none");
    for (size_t t = 0; t < safetensors_count(file); t++) {
        const SafetensorsTensor *tensor = safetensors_tensor(file, t);
        assert_true(tensor->count <= 64 && used < 32);
        assert_int_equal(safetensors_floats(values, file, tensor), 0);
        memcpy(kept[used], values, sizeof values);
        assert_int_equal(safetensors_writer_floats(writer, tensor->name, tensor->rank,
                                                   tensor->shape, kept[used++]),
                         0);
    }
    assert_int_equal(safetensors_writer_floats(writer, "embed.W_E", 2, e, w_e), 0);
    assert_int_equal(safetensors_writer_floats(writer, "pos_embed.W_pos", 2, pos, w_pos), 0);
    if (tuples > 0) {
        assert_int_equal(safetensors_writer_integers(writer, "tokens", 2, shape, tokens), 0);
    }
    assert_int_equal(safetensors_writer_finish(writer, path), 0);
    safetensors_writer_clear(writer);
    safetensors_close(file);
}

static const int64_t tokens[3][LENGTH] = {{4, 0, 1, 1}, {2, 2, 2, 2}, {0, 1, 3, 4}};

/* Files of one drawn pair of embeddings, of all the tokens and of the last. */
static void make_texts(Given *given, double w_e[VOCABULARY * 3], double w_pos[CONTEXT * 3])
{
    for (size_t i = 0; i < VOCABULARY * 3; i++) {
        w_e[i] = 0.1 * (double)(i + 1);
    }
    for (size_t i = 0; i < CONTEXT * 3; i++) {
        w_pos[i] = 0.7 - 0.3 * (double)i;
    }
    given_make_all(given);
    make_embedded(given, "three.safetensors", 3, &tokens[0][0], w_e, w_pos);
    make_embedded(given, "one.safetensors", 1, &tokens[2][0], w_e, w_pos);
}

/* The file's tokens are what is evaluated: n and X come from them, a point each. */
static void test_tokens(void **state)
{
    double w_e[VOCABULARY * 3], w_pos[CONTEXT * 3];
    Given *given = *state;
    make_texts(given, w_e, w_pos);
    make_embedded(given, "none.safetensors", 0, NULL, w_e, w_pos);
    const Point *points = given_points(given, "--weights %three.safetensors --omega 8,9", 6);
    for (size_t p = 0; p < 6; p++) {
        assert_int_equal(points[p].spec.n, LENGTH);
        assert_int_equal(points_share_base(&points[0], &points[p]), p % 3 == 0);
        assert_false(point_axis_matters(&points[p], AXIS_SEED));
    }
    for (size_t t = 0; t < 3; t++) {
        const double *x = points[t].spec.given->x;
        assert_int_equal(points[t].input, t + 1);
        for (size_t i = 0; i < LENGTH * 3; i++) {
            assert_true(x[i] == w_e[(size_t)tokens[t][i / 3] * 3 + i % 3] + w_pos[i]);
        }
    }
    char *third = given_rows(&points[2], false);
    points = given_points(given, "--weights %three.safetensors --input 3 --omega 8", 1);
    char *chosen = given_rows(points, false), *command = given_command(points);
    assert_non_null(strstr(command, " --input 3"));
    char *one = given_rows(given_points(given, "--weights %one.safetensors --omega 8", 1), false);
    assert_string_equal(third, chosen);
    assert_string_equal(third, one);
    free(third);
    free(chosen);
    free(command);
    free(one);
}

static void test_tokens_asked_for(void **state)
{
    double w_e[VOCABULARY * 3], w_pos[CONTEXT * 3];
    Given *given = *state;
    make_texts(given, w_e, w_pos);
    given_points(given, "--weights %three.safetensors --n 4 --input 1:2", 2);
    given_expect_fault(given, COMMAND_SWEEP, "--weights %three.safetensors --input 4",
                       "--input: token '4': expected all, or a tuple of tokens that");
    given_expect_fault(given, COMMAND_SWEEP, "--input 1", "--input: token '1': expected all, or");
    given_expect_fault(given, COMMAND_SWEEP, "--weights %one.safetensors --n 5", "has n = 4");
    assert_int_equal(given_read(given, COMMAND_CONVERT, "%three.safetensors -o %x"), 0);
    assert_int_equal(given->grid.count, 1);
}

static Output run_on(const Given *given, const char *before, const char *after, int code)
{
    char path[SCRATCH_PATH];
    scratch_path(path, &given->scratch, "three.safetensors");
    return expect_run(code, "%s %s %s", before, path, after);
}

/* min-omega is about all inputs, unless some are chosen: verify agrees on either side of it. */
static void test_search_over_inputs(void **state)
{
    double w_e[VOCABULARY * 3], w_pos[CONTEXT * 3], largest;
    char text[64], after[128];
    Given *given = *state;
    make_texts(given, w_e, w_pos);
    Output all = run_on(given, "min-omega --tolerance 1e-6 --weights", "", 0);
    Output each = run_on(given, "min-omega --tolerance 1e-6 --weights", "--input 1:2", 0);
    Output last = run_on(given, "min-omega --tolerance 1e-6 --weights", "--input 3", 0);
    assert_int_equal(lines(&all), 2);
    assert_int_equal(lines(&each), 3);
    expect_cell(&all, 1, "options", "scale=1/sqrt(d_head);tolerance=1e-06");
    expect_cell(&each, 2, "options", "scale=1/sqrt(d_head);input=2;tolerance=1e-06");
    expect_cell(&last, 1, "options", "scale=1/sqrt(d_head);input=3;tolerance=1e-06");
    largest = fmax(number(&each, 1, "omega_min"), number(&each, 2, "omega_min"));
    largest = fmax(largest, number(&last, 1, "omega_min"));
    assert_true(fabs(number(&all, 1, "omega_min") - largest) <= 1e-5 * largest);
    cell(text, sizeof text, &all, 1, "omega_min");
    snprintf(after, sizeof after, "--tolerance 1e-6 --kernel dense --quiet --omega %s", text);
    (void)run_on(given, "verify", after, 0);
    cell(text, sizeof text, &all, 1, "omega_below");
    snprintf(after, sizeof after, "--tolerance 1e-6 --kernel dense --quiet --omega %s", text);
    (void)run_on(given, "verify", after, 1);
}

/* No rows are drawn for who did not ask for them. */
static void test_no_inputs(void **state)
{
    static const Command commands[] = {COMMAND_SWEEP, COMMAND_DEPTH, COMMAND_EXPORT, COMMAND_CHECK,
                                       COMMAND_MIN_OMEGA};
    Given *given = *state;
    given_make_all(given);
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
        given_expect_fault(given, commands[c], TRAINED "--tolerance 1",
                           GIVEN_TRAINED ": holds no X and no tokens to evaluate: expected one of "
                                         "them, or --n");
        assert_int_equal(given_read(given, commands[c], TRAINED "--tolerance 1 --n 3"), 0);
        assert_int_equal(given->grid.points[0].spec.n, 3);
    }
    given_expect_fault(given, COMMAND_CONVERT, "%attention.safetensors", "or --n for as many rows");
    assert_int_equal(given_read(given, COMMAND_CONVERT, "%attention.safetensors --n 6"), 0);
    assert_int_equal(given->grid.points[0].spec.n, 6);
    assert_int_equal(given_read(given, COMMAND_CONVERT, GIVEN_TRAINED), 0);
    assert_int_equal(given->grid.points[0].spec.n, 3);
    assert_int_equal(given_read(given, COMMAND_CONVERT, GIVEN_TRAINED " --n 2"), 0);
    assert_int_equal(given->grid.points[0].spec.n, 2);
}

/* ---- X alone ------------------------------------------------------------------------------- */

static void test_an_x_alone(void **state)
{
    Given *given = *state;
    given_make(given, "alone.safetensors", MADE_INPUT, 0, 4);
    given_make(given, "silent.safetensors", MADE_INPUT, 0, 4);
    given_make(given, "extra.safetensors", MADE_INPUT, 0, 4);
    const Point *point =
        given_points(given, "--weights %silent.safetensors --construction silu --depth 3", 1);
    assert_int_equal(point->spec.construction, CONSTRUCTION_SILU);
    assert_int_equal(point->spec.n, 4);
    assert_int_equal(point->spec.d, 3);
    assert_int_equal(point->spec.depth, 3);
    char *rows = given_rows(point, true), *again = given_rows_again(given, point, true);
    assert_non_null(strstr(rows, "silent.safetensors,,,1,"));
    assert_string_equal(rows, again);
    free(rows);
    free(again);
    given_points(given, "--weights %alone.safetensors --depth 1:3", 3);
    given_points(given, "--weights %silent.safetensors --activation silu,relu", 2);
    given_expect_fault(given, COMMAND_SWEEP, "--weights %alone.safetensors --activation relu",
                       "has activation = silu");
    given_expect_fault(given, COMMAND_SWEEP, "--weights %alone.safetensors --construction fused",
                       "needs silu (it has an X alone)");
    /* It is no model, and with what is skipped it is none either. */
    given_expect_fault(given, COMMAND_VERIFY, "%alone.safetensors",
                       "layer 'blocks.0': missing: verify expects a model");
    given_expect_fault(given, COMMAND_CONVERT, "%alone.safetensors", "convert expects a model");
    given_points(given, "--weights %extra.safetensors --ignore-extra", 1);
}

SUBJECT(weights_said)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_what_is_missing),
        GIVEN_TEST(test_flags_say),
        GIVEN_TEST(test_saying_and_contradicting),
        GIVEN_TEST(test_tokens),
        GIVEN_TEST(test_tokens_asked_for),
        GIVEN_TEST(test_no_inputs),
        GIVEN_TEST(test_an_x_alone),
        GIVEN_TEST(test_search_over_inputs),
    };
    return cmocka_run_group_tests_name("weights_said", tests, NULL, NULL);
}
