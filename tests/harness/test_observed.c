/*
 * --reference none: the machine's columns alone, the same as beside a reference, and nothing
 * claimed of what was not evaluated.
 */
#include "../given.h"
#include "../program.h"

#include "../../harness/evaluate/shared.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const machine[] = {"observed_max", "observed_rms", "identical", "status"};

static const char *const blank[] = {
    "approximation_max", "approximation_rms", "approximation_rel",  "construction_max",
    "construction_rms",  "construction_rel",  "rounding_max",       "rounding_rms",
    "rounding_rel",      "native_max",        "native_rms",         "native_rel",
    "total_max",         "total_rms",         "total_rel",          "observed_rel",
    "rounding_ulp",      "total_ulp",         "construction_log10", "bounds",
    "bias_row_max",      "hidden_max",        "score_max",          "precision_bits",
    "difference_bits"};

enum { MACHINE = sizeof machine / sizeof *machine, BLANK = sizeof blank / sizeof *blank };

/* Rows without a reference come first. */
static void expect_alike(const Output *output, size_t rows)
{
    assert_int_equal(lines(output), 1 + 2 * rows);
    for (size_t line = 1; line <= rows; line++) {
        expect_cell(output, line, "reference", "none");
        for (size_t c = 0; c < MACHINE; c++) {
            char text[64];
            cell(text, sizeof text, output, rows + line, machine[c]);
            bool unresolved = strcmp(text, "unresolved") == 0; /* by the reference alone */
            expect_cell(output, line, machine[c], unresolved ? "ok" : text);
        }
        for (size_t c = 0; c < BLANK; c++) {
            expect_cell(output, line, blank[c], "");
        }
    }
}

static void the_machine_says_the_same(void **state)
{
    static const char *const cases[] = {
        "silu --omega 1e5",
        "linear --linear block --depth 2 --bias random",
        "attention --d-head 2 --mask causal --omega 3",
        "ffn3 --kernel structured --omega 8",
        "fused --row 2 --omega 1000",
        "transformer3 --depth 3 --activation gelu",
        "transformer --mask pseudo-causal --penalty negative --digits 17",
        "masked --bias random --activation relu",
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Output output = expect_run(
            0, "sweep --reference none,auto --n 4 --d 3 --d-ff 5 --quiet --construction %s",
            cases[k]);
        expect_alike(&output, (lines(&output) - 1) / 2);
    }
}

/* Too large for the machine; nothing left of r(T), and of m(T); more than the tolerance. */
static void statuses_are_the_machines(void **state)
{
    static const struct {
        const char *arguments, *status;
        int code;
    } cases[] = {{"--construction silu --omega 1e308", "overflow", 1},
                 {"--construction silu --score-scale 2.3e-308 --depth 6", "vacuous", 0},
                 {"--construction silu --omega 3 --tolerance 1e-9 --judge observed", "fail", 1},
                 {"--construction silu --omega 20 --tolerance 1e-9 --judge observed", "ok", 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Output output = expect_run(cases[k].code,
                                   "sweep --reference none,auto --n 4 --d 3 --quiet %s 2>/dev/null",
                                   cases[k].arguments);
        size_t rows = (lines(&output) - 1) / 2;
        expect_alike(&output, rows);
        expect_cell(&output, rows, "status", cases[k].status);
    }
}

/* A tolerance is for what is observed: there is nothing else. */
static void what_is_observed_is_judged(void **state)
{
    Output output =
        expect_run(1, "sweep --construction silu --n 4 --d 3 --omega 3 --reference none "
                      "--tolerance 1e-9 --quiet 2>/dev/null");
    expect_cell(&output, 1, "status", "fail");
}

/* What shards wrote is read again, and a baseline is compared. */
static void such_tables_are_read_again(void **state)
{
    Output output = run_program(
        "sh",
        "-c 'cd \"$TMPDIR\" && G=\"--construction silu,fused --n 3 --d 3 --omega 3,20 --reference "
        "none --quiet\" && \"$HEADPROOF\" sweep $G -o whole.csv && \"$HEADPROOF\" sweep $G --shard "
        "1/2 -o 1.csv && \"$HEADPROOF\" sweep $G --shard 2/2 -o 2.csv && \"$HEADPROOF\" merge "
        "1.csv "
        "2.csv -o both.csv >/dev/null && cmp whole.csv both.csv && \"$HEADPROOF\" check $G "
        "--save-baseline base.csv >/dev/null && \"$HEADPROOF\" check $G --baseline base.csv "
        "--exact; echo $?; rm -f whole.csv* 1.csv* 2.csv* both.csv* base.csv*'");
    assert_string_equal(output.text, "PASS: 4 rows, 20 cells compared\n0\n");
}

/* No r(T), unless another point of the group asks. */
static void nothing_of_the_reference_is_made(void **state)
{
    Given *given = *state;
    for (int both = 0; both < 2; both++) {
        const Point *points =
            given_points(given,
                         both ? "--construction fused --n 3 --d 3 --omega 20 --reference none,auto"
                              : "--construction fused --n 3 --d 3 --omega 20,30 --reference none",
                         2);
        const Point *list[] = {&points[0], &points[1]};
        Shared *shared;
        assert_int_equal(shared_make(&shared, list, 2, 0), EVALUATE_OK);
        assert_true((shared->base != NULL) == both);
        assert_non_null(shared_original(shared, &points[0]));
        shared_clear(shared);
    }
}

SUBJECT(observed)
{
    const struct CMUnitTest observed[] = {
        cmocka_unit_test(the_machine_says_the_same),  cmocka_unit_test(statuses_are_the_machines),
        cmocka_unit_test(what_is_observed_is_judged), cmocka_unit_test(such_tables_are_read_again),
        GIVEN_TEST(nothing_of_the_reference_is_made),
    };
    return cmocka_run_group_tests(observed, NULL, NULL);
}
