/*
 * Trained models, as a user brings them: the program against an independent one's figures, a
 * verdict on a model that was trained, and the converted model evaluated by others' rules.
 */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#define BIASES "tests/data/all-biases.safetensors"
#define MODADD "cases/models/modadd53-silu.safetensors"

/* Figures of oracle_model.py: full matrices in mpmath at 400 bits, nothing shared but the file. */
static void every_bias_agrees_with_the_oracle(void **state)
{
    static const struct {
        const char *construction, *omega, *error;
    } expected[] = {
        {"transformer", "5", "0.00009379517502695700868609583"},
        {"transformer3", "5", "0.0003998504745847545710805628"},
        {"transformer", "12", "7.799463053759671523660242e-11"},
        {"transformer3", "12", "3.325572243958720104205694e-10"},
        {"transformer", "60", "1.584143218197337803431522e-52"},
        {"transformer3", "60", "6.754545385282709708314909e-52"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char line[512];
        for (int dense = 0; dense < 2; dense++) {
            snprintf(line, sizeof line,
                     "sweep --weights " BIASES " --construction %s --omega %s --arithmetic none "
                     "--reference-form %s",
                     expected[i].construction, expected[i].omega, dense ? "dense" : "structured");
            Output output = run(line);
            assert_int_equal(output.code, 0);
            double right = strtod(expected[i].error, NULL);
            /* Both are rounded once from far more digits. */
            assert_true(fabs(number(&output, 1, "construction_max") - right) <= 0x1p-52 * right);
            expect_cell(&output, 1, "approximation_max", "0");
            free(output.text);
        }
    }
}

/* A part of the trained model's inputs: the figures of all 2809 hold for any. */
#define SOME "verify " MODADD " --tokens 0:52:26/0:52:26/53 "

static void rows_of(Output *output, const char *arguments, int code)
{
    char line[512];
    snprintf(line, sizeof line,
             SOME "%s --quiet -o \"$TMPDIR/verify.csv\"; code=$?; "
                  "cat \"$TMPDIR/verify.csv\"; exit $code",
             arguments);
    *output = run(line);
    assert_int_equal(output->code, code);
}

static void the_trained_model_keeps_its_predictions(void **state)
{
    static const struct {
        const char *omega;
        double least, most;
    } expected[] = {{"5", 5e-4, 1.6e-3},
                    {"12", 4e-10, 1.4e-9},
                    {"20", 3e-15, 4e-14},
                    {"100", 3e-15, 4e-14},
                    {"1000", 2e-14, 9e-14}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char arguments[64];
        Output output;
        snprintf(arguments, sizeof arguments, "--omega %s", expected[i].omega);
        rows_of(&output, arguments, 0);
        double total = number(&output, 1, "total_max");
        assert_true(total >= expected[i].least && total <= expected[i].most);
        expect_cell(&output, 1, "predictions_changed", "0");
        expect_cell(&output, 1, "inputs", "9");
        assert_true(number(&output, 1, "logit_margin") > 3.7);
        assert_true(number(&output, 1, "safety_factor") > 500);
        free(output.text);
    }
}

/* The verdict is the exit code: at the Omega that the search names it passes, at half of it not. */
static void a_tolerance_finds_its_omega(void **state)
{
    (void)state;
    Output output = run(SOME "--tolerance 1e-9 --omega 20");
    assert_int_equal(output.code, 0);
    const char *found = strstr(output.text, "omega from ");
    assert_non_null(found);
    double omega = strtod(found + strlen("omega from "), NULL);
    assert_true(omega > 11 && omega < 13);
    assert_non_null(strstr(output.text, "keeps every prediction"));
    assert_non_null(strstr(output.text, "verdict: PASS"));
    free(output.text);
    for (int half = 0; half < 2; half++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "--tolerance 1e-9 --omega %.9g",
                 half ? omega / 2 : omega * (1 + 1e-6));
        rows_of(&output, arguments, half);
        expect_cell(&output, 1, "status", half ? "fail" : "ok");
        free(output.text);
    }
}

static void bad_requests_are_refused(void **state)
{
    static const char *const bad[] = {"verify " MODADD " --tokens 0/0/99 --omega 20",
                                      "verify " MODADD " --tokens 0/0/0/0",
                                      "verify " MODADD " --tokens ''",
                                      "verify " MODADD " --d 32",
                                      "verify",
                                      "verify a b",
                                      "verify stable",
                                      "verify /no/such.safetensors",
                                      "sweep --tokens 1",
                                      "verify " MODADD " --construction fused",
                                      "verify " MODADD " --arithmetic none",
                                      "verify " MODADD " --n 3"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s 2>&1", bad[i]);
        Output output = run(line);
        if (output.code != 2 || lines(&output) != 1) {
            fail_msg("'%s': exit code %d, said: %s", bad[i], output.code, output.text);
        }
        free(output.text);
    }
}

int main(void)
{
    const struct CMUnitTest verify[] = {
        cmocka_unit_test(every_bias_agrees_with_the_oracle),
        cmocka_unit_test(the_trained_model_keeps_its_predictions),
        cmocka_unit_test(a_tolerance_finds_its_omega),
        cmocka_unit_test(bad_requests_are_refused),
    };
    return cmocka_run_group_tests(verify, NULL, NULL);
}
