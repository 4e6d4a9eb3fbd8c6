/*
 * The outcome of verify and min-omega for CI: the verdict, with -q too, its colour, and the reports
 * that check writes as well.
 */
#include "check_program.h"
#include "../fixture.h"
#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "cases/models/modadd53-silu.safetensors"
#define INPUTS "verify " MODEL " --tokens 0:52:26/1/53 "
#define REPORTS "--json %/j --junit-xml %/x --markdown %/m"

/* The file is there, and has that in it. */
static void expect_report(const Scratch *scratch, const char *name, const char *says)
{
    char *text = check_text(scratch, name);
    if (strstr(text, says) == NULL) {
        fail_msg("expected \"%s\" in %s: %s", says, name, text);
    }
    free(text);
}

/* As Jenkins takes it (where xmllint is there), with so many cases and failures. */
static void expect_junit(const Scratch *scratch, const char *counts)
{
    char command[2 * SCRATCH_PATH];
    snprintf(command, sizeof command,
             "-c 'if command -v xmllint >/dev/null; then xmllint --noout --schema "
             "tests/data/junit.xsd %s/x 2>/dev/null; fi'",
             scratch->directory);
    Output output = run_program("/bin/sh", command);
    assert_int_equal(output.code, 0);
    expect_report(scratch, "x", counts);
}

/* The command that a finding names repeats it alone. */
static void expect_reproduced(const char *command)
{
    assert_int_equal(strncmp(command, "headproof ", strlen("headproof ")), 0);
    expect_run(1, "%s", command + strlen("headproof "));
}

/* At Omega 5 the trained model's error is near 8e-4 = e^(-2 Omega) times its scores' scale, at 20
 * that of its arithmetic. */
static void a_model_has_a_case_a_layer_at_an_omega(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, INPUTS "--omega 5,20 --tolerance 1e-9 -q " REPORTS, 1, "verdict: FAIL: ");
    json_t *report = check_json(scratch, "j");
    const json_t *cases = json_object_get(report, "cases");
    const json_t *findings = json_object_get(report, "findings");
    const json_t *finding = json_array_get(findings, 0);
    assert_string_equal(json_text(report, "verdict"), "fail");
    assert_string_equal(json_text(report, "command"), "verify");
    assert_int_equal(json_array_size(cases), 2);
    assert_int_equal(json_array_size(findings), 1);
    assert_string_equal(json_text(json_array_get(cases, 0), "status"), "fail");
    assert_string_equal(json_text(json_array_get(cases, 1), "status"), "ok");
    assert_string_equal(json_text(json_array_get(cases, 1), "omega"), "20");
    double error = strtod(json_text(json_array_get(cases, 1), "error"), NULL);
    assert_true(error > 3e-15 && error < 4e-14);
    error = strtod(json_text(finding, "obtained"), NULL);
    assert_true(error > 4e-4 && error < 2e-3);
    assert_string_equal(json_text(finding, "reason"), "above its tolerance");
    assert_string_equal(json_text(finding, "limit"), "1e-09");
    expect_reproduced(json_text(finding, "reproduce"));
    json_decref(report);
    expect_junit(scratch, "\"headproof verify\" tests=\"2\" failures=\"1\"");
    expect_report(scratch, "x", "<system-out>tolerance 1e-09, judged total, norm max, error 8.");
    expect_report(scratch, "m", "### headproof verify: FAIL: 1 of 2 cases\n");
    expect_report(scratch, "m", "| total | max | 8.");
    check_expect(scratch, INPUTS "--omega 20 --tolerance 1e-9 -q " REPORTS, 0, "verdict: PASS: ");
    expect_junit(scratch, "tests=\"1\" failures=\"0\"");
    check_expect(scratch, "report %/j -o /dev/stdout", 0, "PASS: 1 case");
}

/* Where logits are judged, their error is the last layer's: here it is 3e-3 at Omega 5. */
static void judged_logits_have_their_error(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, INPUTS "--omega 5 --judge logits --tolerance 1e-9 -q " REPORTS, 1,
                 "verdict: FAIL: at omega 5 the largest logit error is not within 1e-09");
    json_t *report = check_json(scratch, "j");
    const json_t *only = json_array_get(json_object_get(report, "cases"), 0);
    double error = strtod(json_text(only, "error"), NULL);
    assert_string_equal(json_text(only, "judged"), "logits");
    assert_true(error > 1e-3 && error < 1e-2);
    json_decref(report);
}

/* e^(-2 Omega) is 1e-3 near Omega 3.5; nothing in double is within 1e-40. */
static void a_search_is_a_case(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch,
                 "min-omega --n 2 --d 2 --seed 1,5:7 --tolerance 1e-3,1e-40 -q -o %/t " REPORTS, 1,
                 "");
    json_t *report = check_json(scratch, "j");
    const json_t *cases = json_object_get(report, "cases"), *found = json_array_get(cases, 0);
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_int_equal(json_array_size(cases), 2);
    double least = strtod(json_text(found, "omega_min"), NULL);
    double most = strtod(json_text(found, "omega_max"), NULL);
    double error = strtod(json_text(found, "error_min"), NULL);
    assert_true(least > 1 && least < 6 && most > 1e12 && error <= 1e-3 && error > 9e-4);
    assert_string_equal(json_text(json_array_get(cases, 1), "omega_min"), "");
    assert_string_equal(json_text(finding, "reason"), "no omega was found");
    assert_non_null(strstr(json_text(finding, "reproduce"), " --seed 1,5:7 "));
    expect_reproduced(json_text(finding, "reproduce"));
    json_decref(report);
    expect_junit(scratch, "\"headproof min-omega\" tests=\"2\" failures=\"1\"");
    expect_report(scratch, "m", "### headproof min-omega: FAIL: 1 of 2 cases\n");
}

/* Complete or not at all, no input, and the machine's fault is the machine's. */
static void reports_are_files_as_any(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, INPUTS "--omega 20 -q --json /dev/full", 99, "/dev/full");
    check_expect(scratch, "min-omega --n 2 --d 2 --tolerance 1e-3 --markdown /dev/full", 99,
                 "/dev/full");
    check_expect(scratch, INPUTS "--omega 20 --junit-xml %/no/such", 2, "--junit-xml: token '");
    check_expect(scratch, INPUTS "--omega 20 --json " MODEL, 2, "expected another file");
    check_expect(scratch, INPUTS "--omega 20 --json %/j -o %/j", 2, "expected another file");
}

/* The verdict is said whatever is not: on stdout, or where that is the table on stderr. */
static void quiet_says_the_verdict(void **state)
{
    Output output = expect_run(0, INPUTS "--omega 20 -q 2>/dev/null");
    assert_int_equal(
        strncmp(output.text, "verdict: evaluated, nothing judged: no tolerance; at omega 20: ", 62),
        0);
    assert_int_equal(lines(&output), 1);
    output = run(INPUTS "--omega 20 -q -o - 2>/dev/null");
    assert_null(strstr(output.text, "verdict"));
    assert_non_null(strstr(output.text, "judged_log2"));
    output = run(INPUTS "--omega 20 -q -o - 2>&1 >/dev/null");
    expect_says(&output, 0, "verdict: evaluated");
    output = run(INPUTS "--omega 20 -q -o /dev/stdout 2>/dev/null");
    assert_null(strstr(output.text, "verdict"));
}

/* Without a tolerance no report says that anything passed. */
static void what_is_not_judged_does_not_pass(void **state)
{
    static const char says[] = "evaluated, nothing judged: no tolerance";
    const Scratch *scratch = *state;
    check_expect(scratch, INPUTS "--omega 20 -q --color always " REPORTS, 0,
                 "verdict: evaluated, nothing judged: no tolerance; at omega 20: ");
    expect_report(scratch, "j", "\"verdict\": \"evaluated\"");
    expect_report(scratch, "m", "### headproof verify: evaluated, nothing judged: no tolerance: ");
    expect_junit(scratch, "\"headproof verify\" tests=\"1\" failures=\"0\"");
    expect_report(scratch, "x", " skipped=\"1\" ");
    expect_report(scratch, "x", "<skipped message=\"evaluated, nothing judged: no tolerance\"/>");
    check_expect(scratch, "report %/j -o /dev/stdout", 0, says);
    check_expect(scratch, "report %/j -o /dev/stdout", 0, "<title>nothing judged: ");
    Output output = run(INPUTS "--omega 20 --color always");
    assert_null(strchr(output.text, '\033')); /* neither rows that are ok nor the verdict */
}

static void verdicts_have_colours(void **state)
{
    static char text[SCRATCH_TEXT];
    const Scratch *scratch = *state;
    check_expect(scratch, INPUTS "--omega 20 --tolerance 1e-9 -q --color always", 0,
                 "\033[32mverdict: PASS: ");
    check_expect(scratch, INPUTS "--omega 5 --tolerance 1e-9 --color always", 1,
                 "\033[31mverdict: FAIL: ");
    check_expect(scratch, INPUTS "--omega 5 --tolerance 1e-9 --color always", 1,
                 "  \033[31mfail\033[0m\n");
    run_on_terminal(text, sizeof text,
                    "min-omega --n 2 --d 2 --tolerance 1e-3,1e-40 -q --color always", 1);
    assert_non_null(strstr(text, "\033[31mverdict: FAIL: 1 of 2 searches found no omega\033[0m"));
    run_on_terminal(text, sizeof text, "min-omega --n 2 --d 2 --tolerance 1e-3 -q --color always",
                    0);
    assert_non_null(strstr(text, "\033[32mverdict: PASS: every search found an omega\033[0m"));
    run_on_terminal(text, sizeof text, "min-omega --n 2 --d 2 --tolerance 1e-3 -q --color never",
                    0);
    assert_null(strchr(text, '\033'));
}

/* What a terminal is told within a minute of work that takes far more, which is then ended. */
static void expect_told(const Scratch *scratch, const char *arguments, const char *told)
{
    char line[3 * SCRATCH_PATH];
    snprintf(line, sizeof line,
             "-c 'said=%s/said; TERM=xterm script -qfec \"\\\"$HEADPROOF\\\" %s\" $said "
             "</dev/null >/dev/null 2>&1 & for i in $(seq 600); do grep -q \"%s\" $said "
             "2>/dev/null && break; sleep 0.1; done; kill $!; wait $!; grep -q \"%s\" $said'",
             scratch->directory, arguments, told, told);
    Output output = run_program("/bin/sh", line);
    assert_int_equal(output.code, 0);
}

/* Half a million bits take a single input a minute: before it is done, there is the time. */
static void the_first_input_is_waited_for_with_the_time(void **state)
{
    const Scratch *scratch = *state;
    expect_told(scratch, "verify " MODEL " --tokens 0/1/53 --omega 20 --precision 500000",
                "plan: 0 inputs, [0-9]* s so far");
    expect_told(scratch, "min-omega --n 20 --d 20 --tolerance 1e-9 --precision 500000",
                "0 evaluations, [0-9]* s so far");
}

/* A point that a precision makes long is announced before it is begun. */
static void a_long_precision_is_announced(void **state)
{
    static const char says[] = "headproof: with --precision 1048576 one point takes some ";
    static const struct {
        const char *flags;
        int seconds;
        bool said;
    } runs[] = {{"--precision 1048576", 2, true},
                {"--precision 1048576 -q", 1, false},
                {"--precision 4096", 3, false}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "-c 'timeout %d \"$HEADPROOF\" sweep --n 2 --d 2 --omega 20 %s 2>&1 >/dev/null'",
                 runs[i].seconds, runs[i].flags);
        Output output = run_program("/bin/sh", line);
        assert_int_equal(strncmp(output.text, says, strlen(says)) == 0, runs[i].said);
        assert_int_equal(strstr(output.text, "by estimate") != NULL, runs[i].said);
    }
}

SUBJECT(outcome)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_model_has_a_case_a_layer_at_an_omega),
        SCRATCH_TEST(judged_logits_have_their_error),
        SCRATCH_TEST(a_search_is_a_case),
        SCRATCH_TEST(reports_are_files_as_any),
        SCRATCH_TEST(quiet_says_the_verdict),
        SCRATCH_TEST(what_is_not_judged_does_not_pass),
        SCRATCH_TEST(verdicts_have_colours),
        SCRATCH_TEST(the_first_input_is_waited_for_with_the_time),
        SCRATCH_TEST(a_long_precision_is_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
