/*
 * The proof for every input in other commands: verify, min-omega.
 */
#include "../fixture.h"
#include "../program.h"

#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODADD "cases/models/modadd53-silu.safetensors"
#define SOME "verify " MODADD " --tokens 0/1/53 "

/* Of the line that begins so, or NULL. */
static const char *line_of(const Output *output, const char *begin)
{
    const char *at = output->text;
    while (at != NULL && strncmp(at, begin, strlen(begin)) != 0) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return at;
}

/* The smallest Omega that the command `guarantee` finds. */
static double proven_by(const char *arguments)
{
    Output output = run_formatted("guarantee %s --format csv", arguments);
    double omega = output.code == 0 ? number(&output, 1, "omega") : INFINITY;
    return omega;
}

static void verify_ends_with_what_is_proven(void **state)
{
    static const char begin[] = "every input of up to 3 tokens: omega ";
    Output output =
        expect_run(1, SOME "--omega 5,30 --tolerance 1e-9"); /* of omega 5, by what is evaluated */
    const char *said = line_of(&output, begin);
    assert_non_null(said);
    assert_true(strtod(said + strlen(begin), NULL) == proven_by(MODADD " --tolerance 1e-9"));
    assert_non_null(strstr(said, " is proven to keep all logits within 1e-09 of an infinite "
                                 "omega's, in exact arithmetic; 5 is too small for that; 30 is "
                                 "enough\nverdict: FAIL: "));
    assert_null(strstr(said, "for every input"));
    output = run(SOME "--omega 30");
    assert_non_null(strstr(output.text, "tokens: omega 30 is proven to keep all logits within "));
    /* Once of one model, whatever evaluates it; another if its weights are rounded. */
    output = run(SOME "--omega 30 --tolerance 1 --arithmetic f64,f32,bf16 --penalty negative");
    said = line_of(&output, begin);
    assert_non_null(said);
    assert_null(strstr(said + 1, begin));
    assert_non_null(line_of(&output, "every input of up to 3 tokens, weights in bf16: omega "));
}

static void what_is_not_proven_is_not_said(void **state)
{
    static const char *const silent[] = {
        SOME "--omega 30 --tolerance 1e-9 --quiet",
        SOME "--omega 30 --tolerance 1 --dropout 0.1 --penalty positive",
        "verify " MODADD " --tokens 0:52:26/1/53 --omega 30 --tolerance 1e-9 --shard 1/2",
        "verify tests/data/all-biases.safetensors --omega 30 --tolerance 1e-9"};
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        Output output = run(silent[i]);
        if (output.code > 1 || strstr(output.text, "every input") != NULL) {
            fail_msg("%s: exit code %d, %s", silent[i], output.code, output.text);
        }
    }
    /* A length of rows is what is missing there. */
    Output output = run("verify tests/data/all-biases.safetensors --omega 30 --tolerance 1e-9 "
                        "--input-norm 4");
    assert_non_null(strstr(output.text, "tokens, rows of X no longer than 4: omega "));
}

/* Reports hold a case of it, with its bound, and what repeats it fails as well. */
static void it_is_part_of_the_verdict(void **state)
{
    Output output =
        run(SOME "--omega 14 --tolerance 1e-9 --every-input --json \"$TMPDIR/r.json\" --markdown "
                 "\"$TMPDIR/r.md\" --junit-xml \"$TMPDIR/r.xml\"; code=$?; cat \"$TMPDIR/r.json\" "
                 "\"$TMPDIR/r.md\" \"$TMPDIR/r.xml\"; exit $code");
    expect_says(&output, 1, "; not proven for every input: try omega 16.");
    assert_non_null(strstr(output.text, "\"judged\": \"every-input\""));
    assert_non_null(strstr(output.text, "\"verdict\": \"fail\""));
    assert_non_null(strstr(output.text, "\"rows_failed\": 1"));
    assert_non_null(strstr(output.text, "| every-input | max | 8."));
    assert_non_null(strstr(output.text, "<failure message=\"error: above its tolerance; obtained "
                                        "at most 8."));
    char *again = strstr(output.text, "\"reproduce\": \"headproof ");
    assert_non_null(again);
    again += strlen("\"reproduce\": \"headproof ");
    *strchr(again, '"') = '\0';
    assert_non_null(strstr(again, " --every-input"));
    expect_run(1, "%s", again);
    output = run(SOME "--omega 14 --tolerance 1e-9"); /* of those evaluated it passes */
    assert_int_equal(output.code, 0);
    output = run(SOME "--omega 20 --tolerance 1e-9 --every-input --quiet");
    expect_says(&output, 0, "; proven for every input");
    output = run(SOME "--omega 14,20 --tolerance 1e-9 --every-input -q -o \"$TMPDIR/v.csv\"; "
                      "code=$?; grep -o '\"passed\": [a-z]*' \"$TMPDIR/v.csv.json\"; exit $code");
    expect_says(&output, 1, "\"passed\": false\n\"passed\": true\n");
    expect_says(&output, 1, "; not proven for every input: try omega 16.2217");
    output = run(SOME "--omega 16.22165 --tolerance 1e-9 --every-input"); /* printed as 16.2217 */
    expect_says(&output, 0, "; 16.22165 is enough");
    output = expect_run(0, SOME "--omega 1e-3 --tolerance 1e300 --every-input --quiet");
    output = run(SOME "--omega 300 --tolerance 1e-300 --judge construction --every-input --quiet");
    expect_says(&output, 1, "; not proven for every input: try omega 35");
}

/* ---- min-omega ------------------------------------------------------------------------------ */

#define DRAWN "--construction fused --n 3 --d 4 --d-ff 5 --bias random --input-norm 9 "

/* Of several seeds the largest; the command `guarantee` knows of one. */
static void searches_have_what_is_proven_beside_them(void **state)
{
    char text[512];
    double largest = 0;
    for (int seed = 1; seed <= 3; seed++) {
        snprintf(text, sizeof text, DRAWN "--seed %d --tolerance 1e-9", seed);
        largest = fmax(largest, proven_by(text));
    }
    Output output = expect_run(0, "min-omega " DRAWN "--seed 1:3 --tolerance 1e-6,1e-9,1e-300 "
                                  "--judge construction --every-input");
    assert_int_equal(lines(&output), 4);
    assert_true(number(&output, 2, "omega_proven") == largest);
    for (size_t row = 1; row <= 3; row++) {
        assert_true(number(&output, row, "omega_proven") > number(&output, row, "omega_min"));
    }
    output = run("min-omega " DRAWN "--tolerance 1e-9"
                 " 2>&1"); /* --input-norm by itself says nothing */
    assert_int_equal(output.code, 0);
    expect_cell(&output, 1, "omega_proven", "");
    output = expect_run(
        0, "min-omega --construction attention --n 3 --d 3 --d-head 2 --input-norm 1e300 "
           "--tolerance 1e-9 --every-input");
    expect_cell(&output, 1, "omega_proven", "none");
    run_on_terminal(text, sizeof text,
                    "min-omega --construction silu --n 2 --d 2 --tolerance 1e-3 --judge "
                    "construction --every-input --input-norm 4 --color never -q",
                    0);
    assert_non_null(strstr(text, " For every input "));
}

SUBJECT(every_input)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_ends_with_what_is_proven),
        cmocka_unit_test(what_is_not_proven_is_not_said),
        cmocka_unit_test(it_is_part_of_the_verdict),
        cmocka_unit_test(searches_have_what_is_proven_beside_them),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
