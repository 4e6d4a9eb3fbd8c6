/*
 * Sweeps and searches, run as a user runs them (the program is named by HEADPROOF): the same
 * bytes however they are made, statuses and exit codes, and what min-omega promises.
 */
#include "../program.h"
#include "../unit.h"

#include "../../harness/table/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EMPTY_BIAS_ROW                                                                             \
    "sweep --construction all --depth 3 --n 4 --d 3 --omega 3,20,300 --bias random "               \
    "--mask none,causal --seed 1:2 --quiet"
#define MIXED EMPTY_BIAS_ROW " --bias-row-content none,random"

static void bytes_do_not_depend_on_threads(void **state)
{
    Output one = run(MIXED " --threads 1"), two = run(MIXED " --threads 2");
    assert_int_equal(one.code, 0);
    assert_true(lines(&one) > 300);
    assert_int_equal(one.length, two.length);
    assert_memory_equal(one.text, two.text, one.length);
}

/* Columns of the reference alone. */
static const char *const reference_columns[] = {"approximation_max",
                                                "approximation_rms",
                                                "approximation_rel",
                                                "construction_max",
                                                "construction_rms",
                                                "construction_rel",
                                                "construction_log10",
                                                "bias_row_max",
                                                "hidden_max",
                                                "score_max",
                                                "status"};

/* Is the cell a bound? */
static bool is_bound(const Output *output, size_t line, const char *column)
{
    char list[512];
    cell(list, sizeof list, output, line, "bounds");
    return bounds_has(list, column);
}

/* Every seventh line: the same values, and bounds, of whatever size, at the same places. */
static void expect_same_reference(const Output *a, const Output *b)
{
    assert_int_equal(lines(a), lines(b));
    for (size_t line = 1; line < lines(a); line += 7) {
        for (size_t c = 0; c < sizeof reference_columns / sizeof *reference_columns; c++) {
            bool bound = is_bound(a, line, reference_columns[c]);
            assert_int_equal(bound, is_bound(b, line, reference_columns[c]));
            if (!bound) {
                expect_same_cell(a, line, b, line, reference_columns[c]);
            }
        }
    }
}

/* 53 bits, 12 digits, 28 bits and the growth, rounded up to 64; the growth here is under 64, and
 * that of few cases above 7.  The difference needs no 53, but where it is nearly as large as x. */
static void expect_bits(const Output *output, size_t line)
{
    double x = number(output, line, "precision_bits"), e = number(output, line, "difference_bits");
    assert_true((x == 128 || x == 192) && (e == 128 || (e == 192 && x == 192)));
    assert_true(e == 128 || number(output, line, "omega") == 3);
}

/* The difference by itself, and as one of two evaluations at hundreds of bits more. */
static void both_methods_give_the_same_bytes(void **state)
{
    Output difference = run(EMPTY_BIAS_ROW), subtract = run(EMPTY_BIAS_ROW " --reference subtract");
    assert_int_equal(difference.code, 0);
    expect_same_reference(&difference, &subtract);
    for (size_t line = 1; line < lines(&difference); line += 7) {
        expect_cell(&difference, line, "reference", "difference");
    }
    for (size_t line = 1; line < lines(&difference); line++) {
        expect_bits(&difference, line);
    }
}

/* Builds lie side by side: build/release, build/debug, ... */
static void other_builds_give_the_same_bytes(void **state)
{
    static const char *const builds[] = {"release", "debug"};
    char directory[1024], path[1100];
    Output mine = run(MIXED);
    int compared = 0;
    snprintf(directory, sizeof directory, "%s", program());
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(directory, '/');
        assert_non_null(slash);
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        snprintf(path, sizeof path, "%s/%s/headproof", directory, builds[i]);
#ifdef HEADPROOF_FAULTS
        continue; /* only this build is of these sources for certain */
#endif
        if (strcmp(path, program()) == 0 || access(path, X_OK) != 0) {
            continue;
        }
        Output other = run_program(path, MIXED);
        assert_int_equal(other.code, 0);
        expect_same_reference(&mine, &other);
        print_message("same as %s\n", path);
        compared++;
    }
    if (compared == 0) {
        skip();
    }
}

static void omega_1e17_needs_no_3e17_bits(void **state)
{
    Output subtract =
        run("sweep --construction silu --omega 1e17 --n 3 --d 2 --reference subtract");
    Output difference = run("sweep --construction silu --omega 1e17 --n 3 --d 2 --digits 17");
    assert_int_equal(subtract.code, 0);
    expect_cell(&subtract, 1, "status", "unresolved");
    assert_true(number(&subtract, 1, "construction_max") > 0);
    assert_true(number(&subtract, 1, "construction_max") < 1e-25);
    assert_true(number(&subtract, 1, "precision_bits") < 1000);
    assert_true(number(&subtract, 1, "total_max") > 1e-3);
    assert_int_equal(difference.code, 0);
    expect_cell(&difference, 1, "status", "ok");
    /* -2 omega log10 e, which the leak's constant cannot be seen beside */
    assert_true(number(&difference, 1, "construction_log10") == -8.685889638065037e16);
    assert_true(number(&difference, 1, "precision_bits") < 1000);
}

/* Where e^(-2 omega) leaves MPFR's exponents altogether there is a bound again, and no 0. */
static void omega_1e19_is_unresolved(void **state)
{
    Output output =
        expect_run(0, "sweep --construction silu --omega 1e19 --n 3 --d 2 --arithmetic none");
    expect_cell(&output, 1, "status", "unresolved");
    assert_true(number(&output, 1, "construction_log10") < -50);
}

/* Its square does leave them: the other norms must not.  Of two entries rms >= max / sqrt 2. */
static void omega_1e18_has_all_norms(void **state)
{
    Output output = run("sweep --construction silu --omega 1e18 --n 2 --d 1 --arithmetic none");
    char max[64], rms[64];
    expect_cell(&output, 1, "status", "ok");
    cell(max, sizeof max, &output, 1, "construction_max");
    cell(rms, sizeof rms, &output, 1, "construction_rms");
    assert_string_equal(strchr(max, 'e'), strchr(rms, 'e'));
    assert_true(strtod(rms, NULL) == 0 && strncmp(strchr(rms, 'e'), "e-8685889638065036", 18) == 0);
    *strchr(max, 'e') = *strchr(rms, 'e') = '\0';
    assert_true(strtod(rms, NULL) <= strtod(max, NULL));
    assert_true(strtod(rms, NULL) >= strtod(max, NULL) / sqrt(2));
}

static void statuses_are_named(void **state)
{
    /* SiLU halves its input again and again: below the format's normal range it says nothing. */
    const char *shrinks = "sweep --construction silu --n 1 --d 1 --depth 60 --score-scale 1e-300 "
                          "--omega 20 --quiet 2>/dev/null";
    Output tiny = expect_run(0, "%s", shrinks);
    expect_cell(&tiny, 1, "status", "ok");
    expect_cell(&tiny, 60, "status", "vacuous");
    expect_run(1, "%s --tolerance 1", shrinks);
    /* N(0, 1) weights multiply the stream by about sqrt(D) a layer. */
    Output huge =
        expect_run(1, "sweep --construction linear --weights normal --n 1 --d 30 --depth 450 "
                      "--omega 1000 --quiet 2>/dev/null");
    expect_cell(&huge, 450, "status", "overflow");
    expect_cell(&huge, 450, "total_max", "nan");
}

static void exactly_zero_is_printed_only_when_proven(void **state)
{
    Output one = run("sweep --construction silu --n 1 --d 1 --depth 2 --omega 20");
    expect_cell(&one, 1, "construction_max", "0");
    expect_cell(&one, 1, "construction_log10", "");
    assert_true(number(&one, 2, "construction_max") > 0);
    Output causal = run("sweep --construction transformer --mask causal --n 3 --d 2 --omega 20");
    expect_cell(&causal, 1, "bias_row_max", "0");
    assert_true(number(&causal, 1, "construction_max") > 0);
}

/* docs/mathematics.md, section 3: N = 20, double, 1e-10: from 13.9 for B = 3.2 (a little less
 * for these X) to 2^21 - B/2; 1e-13: to 2046, where one X in many attains the worst case; nothing
 * meets 1e-18. */
static void feasible_interval_in_double(void **state)
{
    Output found =
        expect_run(0, "min-omega --construction silu --tolerance 1e-10 --kernel structured");
    double max = number(&found, 1, "omega_max"), min = number(&found, 1, "omega_min");
    assert_true(max > 2097150 && max < 2097152);
    assert_true(min > 13 && min < 14);
    assert_true(number(&found, 1, "seed_rule") > 26.02 && number(&found, 1, "seed_rule") < 26.03);
    assert_true(number(&found, 1, "best_error") < 2e-15);
    double best = number(&found, 1, "omega_best");
    assert_true(best > min && best < max);
    found = run("min-omega --construction silu --tolerance 1e-13 --seed 1:30 --kernel structured");
    assert_true(fabs(number(&found, 1, "omega_max") - 2047) < 2);
    found = expect_run(1, "min-omega --construction silu --tolerance 1e-18");
    expect_cell(&found, 1, "status", "none");
    expect_cell(&found, 1, "omega_min", "");
    assert_true(number(&found, 1, "best_error") > 1e-18);
}

SUBJECT(sweep)
{
    const struct CMUnitTest sweep[] = {
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(both_methods_give_the_same_bytes),
        cmocka_unit_test(other_builds_give_the_same_bytes),
        cmocka_unit_test(omega_1e17_needs_no_3e17_bits),
        cmocka_unit_test(omega_1e19_is_unresolved),
        cmocka_unit_test(omega_1e18_has_all_norms),
        cmocka_unit_test(statuses_are_named),
        cmocka_unit_test(exactly_zero_is_printed_only_when_proven),
        cmocka_unit_test(feasible_interval_in_double),
    };
    return cmocka_run_group_tests(sweep, NULL, NULL);
}
