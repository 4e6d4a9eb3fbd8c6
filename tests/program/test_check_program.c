/*
 * headproof check as CI runs it: exit codes, and what is left behind.
 */
#include "check_program.h"
#include "../fixture.h"
#include "../interrupted.h"
#include "../shell.h"
#include "../unit.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_baseline_is_saved_once_and_met(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, "check " CHECK_GRID " --save-baseline %/b.csv --color always --json %/j",
                 0, "saved, nothing compared: 42 rows\n");
    char *report = check_text(scratch, "j");
    assert_non_null(strstr(report, "\"verdict\": \"saved\""));
    assert_non_null(strstr(report, "\"cells\": 0,"));
    free(report);
    check_expect(scratch, "report %/j -o /dev/stdout", 0,
                 "<span class=\"saved\">saved, nothing compared</span>");
    check_expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-9 --save-baseline %/t.csv",
                 0, "PASS: 1 of 1 rows within a tolerance, nothing compared\n");
    assert_true(check_made(scratch, "b.csv") && check_made(scratch, "b.csv.json"));
    assert_false(check_made(scratch, "b.csv.obtained"));
    check_expect(scratch, "check " CHECK_GRID " --baseline %/b.csv", 0, "PASS: 42 rows");
    check_expect(scratch, "check " CHECK_GRID " --baseline %/b.csv --exact --factor 1", 0,
                 "PASS: 42 rows");
    assert_false(check_made(scratch, "b.csv.obtained") ||
                 check_made(scratch, "b.csv.obtained.json"));
    check_expect(scratch, "check --save-baseline %/b.csv", 2, "--force");
    check_expect(scratch, "check " CHECK_GRID " --baseline %/b.csv", 0,
                 NULL); /* still the old one */
    check_expect(scratch, "check --save-baseline %/b.csv --force --n 2 --d 2", 0,
                 "saved, nothing compared: 1 rows");
    check_expect(scratch, "check " CHECK_GRID " --baseline %/b.csv", 1, "FAIL: 43 of 43 rows");
    check_expect(scratch, "check --n 2 --d 2 --baseline %/b.csv", 0, "PASS: 1 rows");
}

/* Rows of either table count once; that the case has changed is said, and what mends it; rows are
 * told apart by what varies, and a row that is alone by everything. */
static void a_case_that_has_changed_is_said(void **state)
{
    static const char changed[] = "check --construction silu --n 3 --d 2 --omega 10 "
                                  "--baseline %/b.csv ";
    const Scratch *scratch = *state;
    check_expect(scratch,
                 "check --construction silu --n 2 --d 2 --omega 10 --save-baseline %/b.csv", 0,
                 NULL);
    Output output = check_run(scratch, changed);
    expect_says(&output, 1,
                "note: the case has changed since the baseline was saved: 1 of its rows are new, "
                "and 1 of the baseline's are gone; if that is meant, --update saves the baseline "
                "anew\n  n=3\n    a row that the baseline does not have\n");
    expect_says(&output, 1, "\n  n=2\n    a row that is missing\n");
    expect_says(&output, 1, "FAIL: 2 of 2 rows, 2 findings");
    output = check_run(scratch, "check --construction silu --n 3 --d 2 --omega 10 --baseline "
                                "%/b.csv --update --markdown %/m");
    expect_says(&output, 0, "1 of the baseline's are gone\n");
    char *markdown = check_text(scratch, "m");
    assert_non_null(strstr(markdown, "\n| n=3 |  | a row that the baseline does not have |"));
    free(markdown);
    check_expect(scratch, changed, 0, "PASS: 1 rows");
    check_expect(scratch,
                 "check --construction silu --n 2 --d 2 --omega 1 --tolerance 1e-9 --judge total",
                 1, "  construction=silu activation=silu mask=none n=2 d=2 depth=1 omega=1 ");
}

/* Of the same models with another Omega or arithmetic rows are pairs, which say both errors; what
 * only one table has is new or gone all the same. */
static void edited_rows_are_pairs(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, "check --n 2 --d 2 --depth 2 --omega 10,11 --save-baseline %/b.csv", 0,
                 NULL);
    Output output = check_run(scratch, "check --n 2 --d 2 --depth 2 --omega 8 --arithmetic f32 "
                                       "--baseline %/b.csv --markdown %/m --json %/j");
    expect_says(&output, 1, "0 of its rows are new, and 2 of the baseline's are gone, and in 2 ");
    expect_says(&output, 1,
                "\n  omega=8 arithmetic=f32 layer=2\n    omega: was edited: 8, "
                "baseline 10\n    arithmetic: was edited: f32, baseline f64\n"
                "    total_max: under the edit: ");
    expect_says(&output, 1, "\n  omega=11 arithmetic=f64 layer=2\n    a row that is missing\n");
    expect_says(&output, 1, "FAIL: 4 of 4 rows, 8 findings");
    /* Pages name the layer, and of a point's layers one command. */
    char *markdown = check_text(scratch, "m"), *first = strstr(markdown, "headproof sweep");
    assert_non_null(
        strstr(markdown, "| omega=8 arithmetic=f32 layer=2 | total\\_max | under the "));
    assert_non_null(first);
    first = strstr(first + 1, "headproof sweep");
    assert_true(first != NULL && strstr(first + 1, "headproof sweep") == NULL);
    free(markdown);
    check_run(scratch, "report %/j -o %/r.html");
    char *page = check_text(scratch, "r.html");
    assert_non_null(strstr(page, "omega=8 arithmetic=f32 layer=2: <strong>total_max</strong>"));
    first = strstr(page, "headproof sweep");
    first = first != NULL ? strstr(first + 1, "headproof sweep") : NULL;
    assert_true(first != NULL && strstr(first + 1, "headproof sweep") == NULL);
    free(page);
    check_expect(scratch, "check --n 2 --d 2 --depth 2 --omega 10,11,12 --baseline %/b.csv", 1,
                 "2 of its rows are new, and 0 of the baseline's are gone; ");
}

/* A byte order mark and \r\n, as git and editors may write them, change no table. */
static void line_ends_are_no_edit(void **state)
{
    expect_shell("printf \"[a]\nn = 2\nd = 2\nomega = 10\n\" >a.case; "
                 "$h check a.case --save-baseline b.csv; for file in a.case b.csv b.csv.json; do "
                 "sed -i \"s/$/\\r/; 1s/^/\\xef\\xbb\\xbf/\" $file; done; head -c 3 b.csv; "
                 "$h check a.case --baseline b.csv",
                 0, "\xef\xbb\xbfPASS: 1 rows");
    expect_shell("$h merge b.csv --format json 2>said", 0, "\"construction\"");
    /* Any other edit is one. */
    expect_shell("sed -i \"s/,ok/,ok /\" b.csv; $h check a.case --baseline b.csv", 2, "'ok '");
}

/* A bit of a weight that no cell shows makes the file another one. */
static void other_weights_are_said_first(void **state)
{
    expect_shell("cp $p/cases/models/modadd53-silu.safetensors m.safetensors; "
                 "check=\"$h check --weights m.safetensors --n 3 --omega 10\"; "
                 "$check --save-baseline b.csv; $check --baseline b.csv && "
                 "printf \"\\001\" | dd of=m.safetensors bs=1 conv=notrunc "
                 "seek=$(($(stat -c %s m.safetensors) - 4)) 2>said; "
                 "$check --baseline b.csv 2>said",
                 1, "  the tables\n    m.safetensors: is not the baseline's (digest): ");
}

/* What could never pass is no baseline. */
static void a_failing_baseline_is_not_saved(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, "check --n 2 --d 2 --omega 1e308 --save-baseline %/b.csv", 1, "overflow");
    assert_false(check_made(scratch, "b.csv"));
    assert_true(check_made(scratch, "b.csv.obtained"));
    check_expect(scratch, "check --n 2 --d 2 --omega 1 --tolerance 1e-9 --save-baseline %/b.csv", 1,
                 "above the tolerance");
    assert_false(check_made(scratch, "b.csv"));
}

/* Says what differs from the old baseline, in the reports too, and replaces it; nothing that could
 * be no baseline does. */
static void a_baseline_is_updated(void **state)
{
    const Scratch *scratch = *state;
    Csv csv;
    check_expect(scratch, "check --n 2 --d 2 --omega 5,6 --save-baseline %/b.csv", 0,
                 "saved, nothing compared: 2 rows");
    check_read_table(&csv, scratch, "b.csv");
    size_t column = csv_find(&csv, "construction_max");
    csv.cells[csv.columns + column] = "1.00000000000e-01";
    check_write_table(&csv, scratch, "b.csv");
    csv_clear(&csv);
    check_expect(scratch,
                 "check --n 2 --d 2 --omega 5,6 --baseline %/b.csv --update --markdown %/m", 0,
                 ", baseline 1.00000000000e-01, ");
    char *report = check_text(scratch, "m");
    assert_non_null(strstr(report, "FAIL: 1 of 2 rows"));
    free(report);
    assert_false(check_made(scratch, "b.csv.obtained") ||
                 check_made(scratch, "b.csv.obtained.json"));
    check_expect(scratch, "check --n 2 --d 2 --omega 5,6 --baseline %/b.csv --exact", 0,
                 "PASS: 2 rows");
    const char *path = path_in(scratch, "b.csv");
    check_expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --baseline %/b.csv --update", 0,
                 "updated: ");
    check_expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --baseline %/b.csv", 0, "PASS: 3 rows");
    check_expect(scratch,
                 "check --n 2 --d 2 --omega 5,6,7 --tolerance 1e-9 --baseline %/b.csv --update", 1,
                 "as a baseline:");
    assert_true(check_made(scratch, "b.csv.obtained"));
    check_expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --baseline %/b.csv", 0, "PASS: 3 rows");
    assert_int_equal(unlink(path), 0);
    check_expect(scratch, "check --n 2 --d 2 --omega 5 --baseline %/b.csv --update", 2,
                 "no such file");
    check_expect(scratch, "check --n 2 --d 2 --omega 5 --tolerance 1 --update", 2,
                 "expected --baseline FILE with it");
    check_expect(scratch, "check --n 2 --d 2 --save-baseline %/c.csv --update", 2,
                 "--baseline FILE");
}

/* One digit is enough to see an error that grew a hundredfold, and so its logarithm. */
static void a_digit_tells_what_grew(void **state)
{
    static const char *const better[][2] = {{"total_max", "1.00000000000e-18"},
                                            {"total_log10", "-3.00000000000e+01"}};
    const Scratch *scratch = *state;
    for (size_t i = 0; i < 2; i++) {
        Csv csv;
        check_expect(scratch, "check --n 4 --d 3 --omega 1000 --save-baseline %/b.csv --force", 0,
                     NULL);
        check_expect(scratch, "check --n 4 --d 3 --omega 1000 --baseline %/b.csv --digits 1", 0,
                     NULL);
        check_read_table(&csv, scratch, "b.csv");
        csv.cells[csv.columns + csv_find(&csv, better[i][0])] = better[i][1];
        check_write_table(&csv, scratch, "b.csv");
        csv_clear(&csv);
        check_expect(scratch, "check --n 4 --d 3 --omega 1000 --baseline %/b.csv --digits 1", 1,
                     "above its limit");
    }
}

/* Before any work: nothing is evaluated, and no report replaces an old one. */
static void a_mistyped_baseline_is_refused_before_any_work(void **state)
{
    const Scratch *scratch = *state;
    file_write(path_in(scratch, "j"), "old", 3);
    check_expect(scratch, "check --n 2000 --d 900 --depth 96 --baseline %/none.csv --json %/j", 2,
                 "expected a baseline, and there is no such file; --save-baseline FILE makes one");
    assert_false(check_made(scratch, "none.csv.obtained") || check_made(scratch, "none.csv"));
    char *report = check_text(scratch, "j");
    assert_string_equal(report, "old");
    free(report);
}

static const struct {
    const char *sidecar, *said;
} altered[] = {
    {NULL, "there is no .json beside it"},
    {"", "cannot be read as JSON"},
    {"[1]", "cannot be read as JSON"},
    {"{\"schema\": 9}", "has schema 9, this version reads schema 6"},
    {"{\"complete\": true}", "has no schema, this version reads schema 6"},
    {"{\"schema\": 6, \"complete\": false}", "not one of a complete run"},
    {"{\"schema\": 6}", "not one of a complete run"},
    {"{\"schema\": 6, \"complete\": true}", "no digest of it"},
    {"{\"schema\": 6, \"complete\": true, \"digest\": \"0\"}", "was it edited?"},
};

/* A baseline counts as it was saved, whole, with its sidecar. */
static void baselines_are_as_they_were_saved(void **state)
{
    static const char line[] = "check --n 2 --d 2 --baseline %/b.csv";
    const Scratch *scratch = *state;
    Csv csv = {0};
    check_expect(scratch, "check --n 2 --d 2 --save-baseline %/b.csv", 0, NULL);
    check_expect(scratch, line, 0, "PASS");
    const char *path = path_in(scratch, "b.csv");
    const char *sidecar = path_in(scratch, "b.csv.json");
    Output kept = read_file(sidecar), table = read_file(path);
    for (size_t i = 0; i < sizeof altered / sizeof *altered; i++) {
        if (altered[i].sidecar == NULL) {
            assert_int_equal(unlink(sidecar), 0);
        } else {
            file_write(sidecar, altered[i].sidecar, strlen(altered[i].sidecar));
        }
        check_expect(scratch, line, 2, altered[i].said);
        check_expect(scratch, line, 2, "saved anew with --save-baseline FILE --force");
        assert_false(check_made(scratch, "b.csv.obtained"));
    }
    /* Edited by hand, in one digit. */
    file_write(sidecar, kept.text, kept.length);
    char *digit = strpbrk(strchr(table.text, '\n') + 200, "12345678");
    ++*digit;
    file_write(path, table.text, table.length);
    check_expect(scratch, line, 2, "its bytes are not those that its .json was written with");
    check_expect(scratch, "check --n 2 --d 2 --save-baseline %/b.csv --force", 0, NULL);
    check_expect(scratch, line, 0, "PASS");
    check_read_table(&csv, scratch, "b.csv");
    csv_clear(&csv);
}

static void nan_against_nan_fails(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, "sweep --n 2 --d 2 --omega 1e308 -o %/b.csv", 1, NULL);
    check_expect(scratch, "check --n 2 --d 2 --omega 1e308 --baseline %/b.csv --json %/j", 1,
                 "not a number");
    json_t *report = check_json(scratch, "j");
    assert_string_equal(json_text(report, "verdict"), "fail");
    json_decref(report);
}

/* The stream shrinks below the smallest normal double: nothing is said from there on. */
static void zero_against_zero_fails(void **state)
{
    const Scratch *scratch = *state;
    Csv csv = {0};
    check_expect(scratch,
                 "sweep --construction silu --n 1 --d 1 --depth 1100 --omega 30 -o %/b.csv", 0,
                 NULL);
    check_expect(scratch,
                 "check --construction silu --n 1 --d 1 --depth 1100 --omega 30 --baseline %/b.csv "
                 "--json %/j",
                 1, "vacuous");
    json_t *report = check_json(scratch, "j");
    check_read_table(&csv, scratch, "b.csv");
    size_t vacuous = 0;
    for (size_t row = 0; row < csv.rows; row++) {
        vacuous += strcmp(csv_cell(&csv, row, csv.columns - 1), "vacuous") == 0;
    }
    assert_true(vacuous > 50);
    assert_int_equal(json_integer_value(json_object_get(report, "rows_failed")), vacuous);
    csv_clear(&csv);
    json_decref(report);
}

/* 256 and 1000 are 0 and 232 to a shell that gets a count. */
static void many_failing_rows_exit_one(void **state)
{
    check_expect(*state,
                 "check --construction silu --n 1 --d 1 --omega 1 --seed 1:256 --tolerance 1e-300",
                 1, "FAIL: 256 of 256 rows");
    check_expect(*state,
                 "check --construction silu --n 1 --d 1 --omega 1 --seed 1:1000 --tolerance 1e-300",
                 1, "FAIL: 1000 of 1000 rows");
}

static void tolerances_need_no_baseline(void **state)
{
    const Scratch *scratch = *state;
    const char *outer = getenv("TMPDIR");
    char *kept = outer == NULL ? NULL : strdup(outer);
    assert_int_equal(setenv("TMPDIR", scratch->directory, 1), 0);
    check_expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-12", 0,
                 "PASS: 1 rows, 2 cells");
    check_expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-30", 1,
                 "above the tolerance");
    check_expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-30 --quiet", 1,
                 "FAIL: 1 of 1");
    check_expect(scratch, "check --n 2 --d 2 --omega 20", 2, "or a tolerance for every point");
    assert_int_equal(kept == NULL ? unsetenv("TMPDIR") : setenv("TMPDIR", kept, 1), 0);
    free(kept);
    /* Nothing is left: the directory can be removed. */
    assert_int_equal(rmdir(scratch->directory), 0);
    assert_int_equal(mkdir(scratch->directory, 0700), 0);
}

#define PROVEN "check --construction fused,attention --n 3 --d 4 --depth 2 --every-input "

/* What is proven of every input is compared as what is evaluated is; words too. */
static void a_guarantee_is_compared(void **state)
{
    const Scratch *scratch = *state;
    Csv csv;
    check_expect(scratch, PROVEN "--omega 9,20 --input-norm 2 --save-baseline %/g.csv", 0,
                 "saved, nothing compared: 8 rows\n");
    check_expect(scratch, PROVEN "--omega 9,20 --input-norm 2 --baseline %/g.csv", 0,
                 "PASS: 8 rows, 84 cells compared\n");
    check_expect(scratch,
                 "guarantee --construction fused,attention --n 3 --d 4 --depth 2 --omega "
                 "9,20 --input-norm 2 -q -o %/own.csv",
                 0, NULL);
    check_expect(scratch, PROVEN "--omega 9,20 --input-norm 2 --baseline %/own.csv", 0, "PASS: 8 ");
    check_expect(scratch, PROVEN "--omega 9,20 --input-norm 2.5 --baseline %/g.csv", 1,
                 " reproduce: headproof guarantee --construction ");
    static const char *const changed[][2] = {{"leak", "1e-3"}, {"from_term", "biases"}};
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        check_read_table(&csv, scratch, "g.csv");
        csv.cells[csv.columns + csv_find(&csv, changed[i][0])] = changed[i][1];
        check_write_table(&csv, scratch, "g.csv");
        csv_clear(&csv);
        char said[256];
        snprintf(said, sizeof said, "baseline %s", changed[i][1]);
        check_expect(scratch, PROVEN "--omega 9,20 --input-norm 2 --baseline %/g.csv", 1, said);
    }
    check_expect(scratch, "check --n 2 --d 2 --omega 9 --baseline %/own.csv", 2,
                 "with --every-input of guarantee");
    check_expect(scratch, PROVEN "--omega 9 --resume --baseline %/own.csv", 2,
                 "expected it without --every-input");
}

static void a_guarantee_is_judged(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, PROVEN "--tolerance 1e-9 --input-norm 2 --junit-xml %/x", 0,
                 "PASS: 4 rows, 8 cells compared");
    check_expect(scratch, PROVEN "--tolerance 1e-9 --omega 5 --input-norm 2", 1,
                 " --omega 5 --seed 1 --tolerance 1e-09 --input-norm 2");
    check_expect(scratch, PROVEN "--tolerance 1e-9 --input-norm 1e300", 1,
                 "failed by itself: none");
    check_expect(scratch, PROVEN "--omega 9 --tolerance 1", 2, "--input-norm R");
    check_expect(scratch, "check --n 2 --d 2 --omega 9 --input-norm 2 --tolerance 1", 2,
                 "expected --every-input with it");
}

/* Of a model's file it is one row, for as many tokens as the model takes. */
static void a_model_s_guarantee_is_a_row(void **state)
{
    const Scratch *scratch = *state;
#define TRAINED "cases/models/modadd53-silu.safetensors --tolerance 1e-9 "
    check_expect(scratch, "guarantee " TRAINED "-q -o %/model.csv", 0, NULL);
    check_expect(scratch,
                 "check --construction transformer --every-input --weights " TRAINED
                 "--baseline %/model.csv",
                 0, "PASS: 1 rows, 15 cells compared\n");
}

static void bad_usage_exits_two(void **state)
{
    static const struct {
        const char *arguments, *said;
    } cases[] = {
        {"check --baseline", "expected a value"},
        {"check --baseline ''", "expected a file name"},
        {"check --baseline %/b --factor 0.5", "at least 1"},
        {"check --baseline %/b --factor nan", "--factor"},
        {"check --baseline %/b --factor 2,3", "at least 1"},
        {"check --baseline %/b --force", "--save-baseline"},
        {"check --baseline %/b --save-baseline %/c", "expected --baseline or --save-baseline"},
        {"check --baseline %/b -o %/c", "--output"},
        {"check --tolerance 1 --json %/no/such", "headproof: --json: token '"},
        {"check --tolerance 1 --markdown %/no/such", "headproof: --markdown: token '"},
        {"check --tolerance 1 --junit-xml %/no/such", "headproof: --junit-xml: token '"},
        {"check --n 2 --save-baseline %/no/such", "headproof: --save-baseline: token '"},
        {"check --baseline %", "expected a table"},
        {"check %/none.case --baseline %/b", "none.case"},
        {"sweep --n 2 --baseline %/b", "--baseline"},
        {"sweep --n 2 --exact", "--exact"},
        {"sweep --json %/j", "--json"},
    };
    const Scratch *scratch = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_expect(scratch, cases[i].arguments, 2, cases[i].said);
    }
    assert_false(check_made(scratch, "b.obtained"));
}

/* A damaged baseline is bad input, before any work; an old report stays. */
static void a_damaged_baseline_exits_two(void **state)
{
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH];
    scratch_path(path, scratch, "b.csv");
    file_write(path, "construction,layer\nsilu,1", 25);
    scratch_path(path, scratch, "j");
    file_write(path, "old", 3);
    check_expect(scratch, "check --n 2 --d 2 --baseline %/b.csv --json %/j", 2,
                 "b.csv:2: token '1'");
    assert_false(check_made(scratch, "b.csv.obtained"));
    assert_true(check_made(scratch, "j"));
}

/* Killed while it sweeps, a check leaves its points beside the baseline; with --resume it goes on
 * with them to the verdict of a check that nothing happened to, and leaves nothing. */
static void an_interrupted_check_goes_on(void **state)
{
    static const char check_line[] =
        "check --construction fused --n 8 --d 6 --depth 30 --omega 8:20 --seed 1:3 --threads 1";
    const Scratch *scratch = *state;
    char line[1024];
    int status, kills = 0;
    snprintf(line, sizeof line, "%s --save-baseline %%/base.csv", check_line);
    check_expect(scratch, line, 0, "saved: ");
    const char *partial = path_in(scratch, "base.csv.obtained.partial");
    snprintf(line, sizeof line, "%s --baseline %s/base.csv --resume --quiet", check_line,
             scratch->directory);
    for (off_t before = -1; kills < 3; kills++) {
        pid_t child = start_program(line);
        while (size_of(partial) <= before && waitpid(child, &status, WNOHANG) == 0) {
            pause_seconds(0.001);
        }
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_true(size_of(partial) > before);
        before = size_of(partial) + 20000; /* a few points more */
    }
    snprintf(line, sizeof line, "%s --baseline %%/base.csv --resume", check_line);
    check_expect(scratch, line, 0, " of 39 points are there already");
    assert_false(check_made(scratch, "base.csv.obtained") ||
                 check_made(scratch, "base.csv.obtained.partial") ||
                 check_made(scratch, "base.csv.obtained.json.partial"));
    /* Without a baseline there is no file to go on with. */
    check_expect(scratch, "check --construction silu --tolerance 1 --resume", 2, "--resume: ");
}

SUBJECT(check_program)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(an_interrupted_check_goes_on),
        SCRATCH_TEST(a_baseline_is_saved_once_and_met),
        SCRATCH_TEST(a_case_that_has_changed_is_said),
        SCRATCH_TEST(edited_rows_are_pairs),
        SHELL_TEST(line_ends_are_no_edit),
        SHELL_TEST(other_weights_are_said_first),
        SCRATCH_TEST(a_failing_baseline_is_not_saved),
        SCRATCH_TEST(a_baseline_is_updated),
        SCRATCH_TEST(a_digit_tells_what_grew),
        SCRATCH_TEST(a_mistyped_baseline_is_refused_before_any_work),
        SCRATCH_TEST(baselines_are_as_they_were_saved),
        SCRATCH_TEST(nan_against_nan_fails),
        SCRATCH_TEST(zero_against_zero_fails),
        SCRATCH_TEST(many_failing_rows_exit_one),
        SCRATCH_TEST(tolerances_need_no_baseline),
        SCRATCH_TEST(a_guarantee_is_compared),
        SCRATCH_TEST(a_guarantee_is_judged),
        SCRATCH_TEST(a_model_s_guarantee_is_a_row),
        SCRATCH_TEST(bad_usage_exits_two),
        SCRATCH_TEST(a_damaged_baseline_exits_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
