/*
 * The predicted cost of a point, against the time that it takes here.
 */
#include "../fixture.h"
#include "../program.h"
#include "../shell.h"

#include "../../harness/base/progress.h"
#include "../../harness/commands/commands.h"
#include "../../harness/evaluate/evaluate.h"
#include "../../harness/evaluate/predict.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 24, REPEATS = 3, MORE = 10, APART = 10 };

/* From fractions of a millisecond up, by every axis that enters. */
static const char *const points[] = {
    "silu --n 4 --d 8 --omega 8",
    "silu --n 20 --d 30 --omega 8",
    "silu --n 20 --d 30 --omega 1000",
    "silu --n 20 --d 30 --omega 100000",
    "linear --n 20 --d 30 --omega 20",
    "attention --n 20 --d 30 --omega 20",
    "attention --n 64 --d 30 --omega 20",
    "attention --n 20 --d 30 --d-head 4 --omega 20",
    "fused --n 4 --d 8 --omega 20",
    "fused --n 4 --d 8 --omega 20 --kernel structured",
    "fused --n 12 --d 24 --omega 20",
    "fused --n 12 --d 24 --omega 1000",
    "fused --n 12 --d 24 --omega 1e12",
    "silu --n 20 --d 30 --omega 5000",
    "ffn3 --n 12 --d 24 --omega 20",
    "transformer --n 4 --d 8 --omega 20 --depth 1",
    "transformer --n 4 --d 8 --omega 20 --depth 16",
    "transformer --n 12 --d 16 --omega 20 --d-ff 256 --kernel structured",
    "transformer3 --n 4 --d 8 --omega 400",
    "fused --n 12 --d 24 --omega 20 --propagation",
    "transformer --n 20 --d 16 --omega 20 --propagation",
    "fused --n 200 --d 8 --d-ff 64 --omega 20 --precision 128 --kernel dense",
};

enum { POINTS = sizeof points / sizeof *points };

/* The one point of "CONSTRUCTION --axis value ...". */
static void read_point(Grid *grid, const char *text)
{
    char copy[512], *argv[WORDS] = {"sweep", "--construction"}, *rest;
    int argc = 2;
    RunOptions run;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && argc < WORDS;
         word = strtok_r(NULL, " ", &rest)) {
        argv[argc++] = word;
    }
    assert_int_equal(grid_read(grid, &run, commands_get(COMMAND_SWEEP), argc, argv), 0);
    assert_int_equal(grid->count, 1);
}

/* The least of a few, and of what was measured before: what it takes when nothing else runs. */
static double measure(const Point *point, double least)
{
    for (int i = 0; i < REPEATS; i++) {
        double start = clock_seconds();
        Shared *shared = shared_make(&point, 1, 0);
        assert_non_null(shared);
        Row *rows = point_evaluate(shared, point, NULL, NULL);
        assert_non_null(rows);
        point_rows_free(rows, point);
        shared_clear(shared);
        least = fmin(least, clock_seconds() - start);
    }
    return least;
}

/* Whether the order of a pair contradicts what was predicted, when it is measured a few times more:
 * other work on the machine makes a point slower, never faster. */
static bool contradicts(const Grid *slow, double *slow_seconds, const Grid *fast,
                        double *fast_seconds)
{
    for (int i = 0; i < MORE && *slow_seconds >= APART * *fast_seconds; i++) {
        *slow_seconds = measure(&slow->points[0], *slow_seconds);
        *fast_seconds = measure(&fast->points[0], *fast_seconds);
    }
    return *slow_seconds >= APART * *fast_seconds;
}

/* Points that differ by ten or more are in the order predicted. */
static void the_order_is_as_predicted(void **state)
{
    Grid grids[POINTS];
    double predicted[POINTS], measured[POINTS], low = INFINITY, high = 0;
    size_t compared = 0;
#ifdef HEADPROOF_CHECK
    skip(); /* sanitizers slow the parts of a point unevenly */
#endif
    for (size_t i = 0; i < POINTS; i++) {
        read_point(&grids[i], points[i]);
        predicted[i] = point_cost(&grids[i].points[0]);
        measured[i] = measure(&grids[i].points[0], INFINITY);
        low = fmin(low, predicted[i] / measured[i]);
        high = fmax(high, predicted[i] / measured[i]);
        print_message("%9.3g s predicted, %9.3g s measured: %s\n", predicted[i], measured[i],
                      points[i]);
    }
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t j = 0; j < POINTS; j++) {
            if (measured[i] >= APART * measured[j]) {
                compared++;
                if (predicted[i] <= predicted[j] &&
                    contradicts(&grids[i], &measured[i], &grids[j], &measured[j])) {
                    fail_msg("'%s' takes %.3g s, '%s' %.3g s", points[i], measured[i], points[j],
                             measured[j]);
                }
            }
        }
    }
    print_message("%zu pairs; predicted / measured from %.2g to %.2g\n", compared, low, high);
    assert_true(compared >= 20); /* of a fast machine fewer are far apart */
    for (size_t i = 0; i < POINTS; i++) {
        grid_clear(&grids[i]);
    }
}

/* Sizes far beyond any machine stay numbers. */
static void absurd_sizes_cost_a_finite_amount(void **state)
{
    Grid grid;
    read_point(&grid, "fused --n 4 --d 8 --d-ff 8 --omega 1e300");
    CaseSpec *spec = &grid.points[0].spec;
    spec->n = spec->d = spec->d_ff = 1000000;
    double cost = point_cost(&grid.points[0]);
    assert_true(isfinite(cost) && cost > 1e6);
    grid_clear(&grid);
}

#define LARGE "sweep --construction transformer --kernel structured --n 200 --d 400 --depth 192 "

/* What --dry-run says of a sweep, in seconds: of all points, and of the largest; and the command of
 * that is one that the sweep has. */
static void foretold(double seconds[2], const char *arguments)
{
    Output output = expect_run(0, LARGE "%s --dry-run 2>&1 >/dev/null", arguments);
    const char *about = output.text;
    for (size_t i = 0; i < 2; i++) {
        char *unit;
        about = strstr(about, "about ");
        assert_true(about != NULL || i == 1);
        seconds[i] = about == NULL ? seconds[0] : strtod(about + strlen("about "), &unit);
        about = about == NULL ? output.text : unit;
        assert_true(about == output.text || strncmp(unit, " min ", strlen(" min ")) == 0);
    }
    assert_non_null(strstr(output.text, " GiB"));
}

/* All points take what the largest takes and more, less than as many times as much where they share
 * a base, and half of it with twice the threads. */
static void a_dry_run_says_what_it_takes(void **state)
{
    double one[2], shared[2], two[2], apart[2];
    foretold(one, "--omega 20 --threads 1");
    foretold(shared, "--omega 20,30,40,50 --threads 1");
    foretold(two, "--omega 20,30,40,50 --threads 2");
    foretold(apart, "--omega 20 --seed 1:4 --threads 1");
    assert_true(one[0] == shared[1] && one[0] == apart[1]);
    assert_true(shared[0] > 1.5 * one[0] && shared[0] < 3.5 * one[0]);
    assert_true(fabs(apart[0] - 4 * one[0]) <= 2.5);
    assert_true(fabs(two[0] - shared[0] / 2) <= 1);
    Output output = run("sweep --n 4 --d 4 --omega 5 --dry-run 2>&1 >/dev/null");
    assert_int_equal(strncmp(output.text, "headproof: 1 point: less than a second with ", 44), 0);
    output = run("sweep --n 4 --d 4,5 --omega 5 --dry-run 2>&1 >/dev/null");
    expect_says(&output, 0,
                " MiB: headproof sweep --construction transformer --n 4 --d 5 --omega 5");
    output = run("sweep --n 4 --d 4,5 --omega 5 --dry-run --quiet 2>&1 >/dev/null");
    assert_string_equal(output.text, "");
}

/* Most of what 10000 small points take is theirs and their rows' alone: a millisecond each. */
static void small_points_take_time_too(void **state)
{
    double seconds = 0, deep = 0;
    Output output = run("sweep --construction linear --n 2 --d 2 --omega 8 --seed 1:10000 "
                        "--threads 1 --dry-run 2>&1 >/dev/null");
    assert_int_equal(sscanf(output.text, "headproof: 10000 points: about %lf s with", &seconds), 1);
    output = run("sweep --construction linear --n 2 --d 2 --omega 8 --depth 8 --seed 1:10000 "
                 "--threads 1 --dry-run 2>&1 >/dev/null");
    assert_int_equal(sscanf(output.text, "headproof: 10000 points: about %lf s with", &deep), 1);
    assert_true(seconds >= 8 && seconds <= 12);
    assert_true(deep >= 35 && deep <= 50);
}

/* scratch/wide.safetensors: six tokens, sixteen linear layers of d rows and columns, all of them
 * zeros that take no room on the disk. */
static void write_wide(size_t d)
{
    enum { LAYERS = 16, TOKENS = 6 };
    const char *path = shell_path("wide.safetensors");
    char header[4096], *at = header + sizeof(uint64_t);
    const char *end = header + sizeof header;
    size_t first = TOKENS * d * sizeof(double);
    at += snprintf(at, (size_t)(end - at),
                   "{\"__metadata__\":{\"activation\":\"silu\",\"blocks\":\"sequential\","
                   "\"positions\":\"none\",\"scale\":\"1\",\"mask\":\"none\",\"normalization\":"
                   "\"none\"},\"embed.W_E\":{\"dtype\":\"F64\",\"shape\":[%d,%zu],"
                   "\"data_offsets\":[0,%zu]}",
                   TOKENS, d, first);
    for (size_t l = 0; l < LAYERS; l++) {
        size_t next = first + d * d * sizeof(double);
        at += snprintf(at, (size_t)(end - at),
                       ",\"blocks.%zu.linear.W\":{\"dtype\":\"F64\",\"shape\":[%zu,%zu],"
                       "\"data_offsets\":[%zu,%zu]}",
                       l, d, d, first, next);
        first = next;
    }
    at += snprintf(at, (size_t)(end - at), "}");
    const uint64_t size = (uint64_t)(at - header) - sizeof size;
    memcpy(header, &size, sizeof size);
    file_write(path, header, (size_t)(at - header));
    assert_int_equal(truncate(path, (off_t)((size_t)(at - header) + first)), 0);
}

/* What --dry-run says of these tokens of it. */
static double foretold_inputs(const char *tokens, const char *memory)
{
    Output output = shell("$h verify wide.safetensors --omega 40 --tokens %s --memory %s "
                          "--threads 1 --shard 1/1 --dry-run 2>&1 >/dev/null",
                          tokens, memory);
    assert_int_equal(output.code, 0);
    return number_after(&output, ": about ");
}

/* Where most of the work is done once a weight, six inputs that go through a layer together, or
 * share weights that are held, are not foretold to take it six times. */
static void inputs_share_weights(void **state)
{
    write_wide(1024);
    double one = foretold_inputs("0", "400MiB");
    double together = foretold_inputs("0:5", "400MiB"), held = foretold_inputs("0:5", "2GiB");
    assert_true(one >= 3 && together >= one && together < 2 * one);
    assert_true(held >= one && held < 2 * one);
}

SUBJECT(predict)
{
    const struct CMUnitTest predict[] = {
        cmocka_unit_test(a_dry_run_says_what_it_takes),
        cmocka_unit_test(small_points_take_time_too),
        SHELL_TEST(inputs_share_weights),
        cmocka_unit_test(the_order_is_as_predicted),
        cmocka_unit_test(absurd_sizes_cost_a_finite_amount),
    };
    return cmocka_run_group_tests(predict, reference_set_up, reference_tear_down);
}
