/*
 * headproof check as CI runs it: exit codes, what is left behind, and the reports.
 */
#include "../harness/base/csv_read.h"
#include "check_fixture.h"
#include "interrupted.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRID                                                                                       \
    "--construction silu,linear,attention,ffn3,fused,transformer3,transformer --n 3 --d 2 "        \
    "--depth 2 --omega 2,20,1000 --bias random"

/* headproof ARGUMENTS, where % stands for the scratch directory; both streams. */
static Output check(const Scratch *scratch, const char *arguments)
{
    char command[2048] = "", *end = command;
    for (const char *c = arguments; *c != '\0'; c++) {
        int size = (int)(command + sizeof command - end);
        int used = *c == '%' ? snprintf(end, (size_t)size, "%s", scratch->directory)
                             : snprintf(end, (size_t)size, "%c", *c);
        assert_true(used < size);
        end += used;
    }
    assert_true(command + sizeof command - end > 6);
    strcpy(end, " 2>&1");
    return run(command);
}

/* Exit code, and a part of what is said (NULL: anything). */
static void expect(const Scratch *scratch, const char *arguments, int code, const char *said)
{
    Output output = check(scratch, arguments);
    if (output.code != code || (said != NULL && strstr(output.text, said) == NULL)) {
        fail_msg("headproof %s: exit %d, expected %d and \"%s\":\n%s", arguments, output.code, code,
                 said != NULL ? said : "", output.text);
    }
    free(output.text);
}

static bool exists(const Scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH];
    scratch_path(path, scratch, name);
    return file_exists(path);
}

static char *read_all(const Scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH], *text = malloc(SCRATCH_TEXT);
    scratch_path(path, scratch, name);
    assert_non_null(text);
    assert_true(file_read(text, path) > 0);
    return text;
}

static json_t *load(const Scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH];
    json_error_t error;
    scratch_path(path, scratch, name);
    json_t *value = json_load_file(path, 0, &error);
    if (value == NULL) {
        fail_msg("%s: %s", path, error.text);
    }
    return value;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static void write_table(const Csv *csv, const Scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH];
    scratch_path(path, scratch, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < (csv->rows + 1) * csv->columns; i++) {
        fprintf(file, "%s%c", csv->cells[i], (i + 1) % csv->columns == 0 ? '\n' : ',');
    }
    assert_int_equal(fclose(file), 0);
    seal_table(path);
}

static void read_table(Csv *csv, const Scratch *scratch, const char *name)
{
    char path[SCRATCH_PATH];
    scratch_path(path, scratch, name);
    assert_int_equal(csv_read(csv, path), 0);
}

static void a_baseline_is_saved_once_and_met(void **state)
{
    const Scratch *scratch = *state;
    expect(scratch, "check " GRID " --save-baseline %/b.csv", 0, "PASS: 42 rows");
    assert_true(exists(scratch, "b.csv") && exists(scratch, "b.csv.json"));
    assert_false(exists(scratch, "b.csv.obtained"));
    expect(scratch, "check " GRID " --baseline %/b.csv", 0, "PASS: 42 rows");
    expect(scratch, "check " GRID " --baseline %/b.csv --exact --factor 1", 0, "PASS: 42 rows");
    assert_false(exists(scratch, "b.csv.obtained") || exists(scratch, "b.csv.obtained.json"));
    expect(scratch, "check --save-baseline %/b.csv", 2, "--force");
    expect(scratch, "check " GRID " --baseline %/b.csv", 0, NULL); /* still the old one */
    expect(scratch, "check --save-baseline %/b.csv --force --n 2 --d 2", 0, "PASS: 1 rows");
    expect(scratch, "check " GRID " --baseline %/b.csv", 1, "FAIL: 43 of 42 rows");
    expect(scratch, "check --n 2 --d 2 --baseline %/b.csv", 0, "PASS: 1 rows");
}

/* What could never pass is no baseline. */
static void a_failing_baseline_is_not_saved(void **state)
{
    const Scratch *scratch = *state;
    expect(scratch, "check --n 2 --d 2 --omega 1e308 --save-baseline %/b.csv", 1, "overflow");
    assert_false(exists(scratch, "b.csv"));
    assert_true(exists(scratch, "b.csv.obtained"));
    expect(scratch, "check --n 2 --d 2 --omega 1 --tolerance 1e-9 --save-baseline %/b.csv", 1,
           "above the tolerance");
    assert_false(exists(scratch, "b.csv"));
}

/* Says what differs from the old baseline, in the reports too, and replaces it; nothing that could
 * be no baseline does. */
static void a_baseline_is_updated(void **state)
{
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH];
    Csv csv;
    expect(scratch, "check --n 2 --d 2 --omega 5,6 --save-baseline %/b.csv", 0, "PASS: 2 rows");
    read_table(&csv, scratch, "b.csv");
    size_t column = csv_find(&csv, "construction_max");
    csv.cells[csv.columns + column] = "1.00000000000e-01";
    write_table(&csv, scratch, "b.csv");
    csv_clear(&csv);
    expect(scratch, "check --n 2 --d 2 --omega 5,6 --baseline %/b.csv --update --markdown %/m", 0,
           ", baseline 1.00000000000e-01, ");
    char *report = read_all(scratch, "m");
    assert_non_null(strstr(report, "FAIL: 1 of 2 rows"));
    free(report);
    assert_false(exists(scratch, "b.csv.obtained") || exists(scratch, "b.csv.obtained.json"));
    expect(scratch, "check --n 2 --d 2 --omega 5,6 --baseline %/b.csv --exact", 0, "PASS: 2 rows");
    scratch_path(path, scratch, "b.csv");
    expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --baseline %/b.csv --update", 0, "updated: ");
    expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --baseline %/b.csv", 0, "PASS: 3 rows");
    expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --tolerance 1e-9 --baseline %/b.csv --update",
           1, "as a baseline:");
    assert_true(exists(scratch, "b.csv.obtained"));
    expect(scratch, "check --n 2 --d 2 --omega 5,6,7 --baseline %/b.csv", 0, "PASS: 3 rows");
    assert_int_equal(unlink(path), 0);
    expect(scratch, "check --n 2 --d 2 --omega 5 --baseline %/b.csv --update", 2, "no such file");
    expect(scratch, "check --n 2 --d 2 --omega 5 --tolerance 1 --update", 2,
           "expected --baseline FILE with it");
    expect(scratch, "check --n 2 --d 2 --save-baseline %/c.csv --update", 2, "--baseline FILE");
}

/* Before any work: nothing is evaluated, and no report replaces an old one. */
static void a_mistyped_baseline_is_refused_before_any_work(void **state)
{
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH];
    scratch_path(path, scratch, "j");
    file_write(path, "old", 3);
    expect(scratch, "check --n 2000 --d 900 --depth 96 --baseline %/none.csv --json %/j", 2,
           "expected a baseline, and there is no such file; --save-baseline FILE makes one");
    assert_false(exists(scratch, "none.csv.obtained") || exists(scratch, "none.csv"));
    char *report = read_all(scratch, "j");
    assert_string_equal(report, "old");
    free(report);
}

/* A baseline counts as it was saved, whole, with its sidecar. */
static void baselines_are_as_they_were_saved(void **state)
{
    static const char line[] = "check --n 2 --d 2 --baseline %/b.csv";
    static const struct {
        const char *sidecar, *said;
    } cases[] = {
        {NULL, "there is no .json beside it"},
        {"", "cannot be read as JSON"},
        {"[1]", "cannot be read as JSON"},
        {"{\"schema\": 9}", "has schema 9, this version reads schema 5"},
        {"{\"complete\": true}", "has no schema, this version reads schema 5"},
        {"{\"schema\": 5, \"complete\": false}", "not one of a complete run"},
        {"{\"schema\": 5}", "not one of a complete run"},
        {"{\"schema\": 5, \"complete\": true}", "no digest of it"},
        {"{\"schema\": 5, \"complete\": true, \"digest\": \"0\"}", "was it edited?"},
    };
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH], sidecar[SCRATCH_PATH];
    Csv csv = {0};
    expect(scratch, "check --n 2 --d 2 --save-baseline %/b.csv", 0, NULL);
    expect(scratch, line, 0, "PASS");
    scratch_path(path, scratch, "b.csv");
    scratch_path(sidecar, scratch, "b.csv.json");
    Output kept = read_file(sidecar), table = read_file(path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].sidecar == NULL) {
            assert_int_equal(unlink(sidecar), 0);
        } else {
            file_write(sidecar, cases[i].sidecar, strlen(cases[i].sidecar));
        }
        expect(scratch, line, 2, cases[i].said);
        expect(scratch, line, 2, "saved anew with --save-baseline FILE --force");
        assert_false(exists(scratch, "b.csv.obtained"));
    }
    /* Edited by hand, in one digit. */
    file_write(sidecar, kept.text, kept.length);
    char *digit = strpbrk(strchr(table.text, '\n') + 200, "12345678");
    ++*digit;
    file_write(path, table.text, table.length);
    expect(scratch, line, 2, "its bytes are not those that its .json was written with");
    expect(scratch, "check --n 2 --d 2 --save-baseline %/b.csv --force", 0, NULL);
    expect(scratch, line, 0, "PASS");
    read_table(&csv, scratch, "b.csv");
    csv_clear(&csv);
    free(kept.text);
    free(table.text);
}

static void nan_against_nan_fails(void **state)
{
    const Scratch *scratch = *state;
    expect(scratch, "sweep --n 2 --d 2 --omega 1e308 -o %/b.csv", 1, NULL);
    expect(scratch, "check --n 2 --d 2 --omega 1e308 --baseline %/b.csv --json %/j", 1,
           "not a number");
    json_t *report = load(scratch, "j");
    assert_string_equal(text_of(report, "verdict"), "fail");
    json_decref(report);
}

/* The stream shrinks below the smallest normal double: nothing is said from there on. */
static void zero_against_zero_fails(void **state)
{
    const Scratch *scratch = *state;
    Csv csv = {0};
    expect(scratch, "sweep --construction silu --n 1 --d 1 --depth 1100 --omega 30 -o %/b.csv", 0,
           NULL);
    expect(scratch,
           "check --construction silu --n 1 --d 1 --depth 1100 --omega 30 --baseline %/b.csv "
           "--json %/j",
           1, "vacuous");
    json_t *report = load(scratch, "j");
    read_table(&csv, scratch, "b.csv");
    size_t vacuous = 0;
    for (size_t row = 0; row < csv.rows; row++) {
        vacuous += strcmp(csv_cell(&csv, row, csv.columns - 1), "vacuous") == 0;
    }
    assert_true(vacuous > 50);
    assert_int_equal(json_integer_value(json_object_get(report, "rows_failed")), vacuous);
    csv_clear(&csv);
    json_decref(report);
}

static size_t occurrences(const char *text, const char *wanted)
{
    size_t count = 0;
    for (; (text = strstr(text, wanted)) != NULL; text++) {
        count++;
    }
    return count;
}

/* Every tenth reference cell that is not 0, altered in one of its first twelve digits. */
static size_t alter(Csv *csv, char (*altered)[32], size_t count)
{
    static const char *const columns[] = {
        "construction_max", "construction_rms", "construction_rel", "construction_log10",
        "bias_row_max",     "score_max",        "hidden_max"};
    size_t made = 0;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        size_t column = csv_find(csv, columns[c]);
        for (size_t row = 0; row < csv->rows && made < count; row++) {
            const char **cell = &csv->cells[(row + 1) * csv->columns + column];
            size_t first = strcspn(*cell, "123456789");
            if (strlen(*cell) < 16) {
                continue;
            }
            strcpy(altered[made], *cell);
            char *digit = &altered[made][first + 2 + made % 10];
            *digit = *digit == '9' ? '0' : (char)(*digit + 1);
            *cell = altered[made++];
        }
    }
    return made;
}

static void three_hundred_altered_digits_are_all_named(void **state)
{
    static const char many[] = "check " GRID " --mask none,causal --seed 1:2";
    static char altered[300][32];
    const Scratch *scratch = *state;
    char command[512];
    Csv csv = {0}, before = {0};
    size_t named = 0;
    snprintf(command, sizeof command, "%s --save-baseline %%/b.csv", many);
    expect(scratch, command, 0, NULL);
    read_table(&csv, scratch, "b.csv");
    read_table(&before, scratch, "b.csv");
    assert_int_equal(alter(&csv, altered, 300), 300);
    write_table(&csv, scratch, "b.csv");
    snprintf(command, sizeof command, "%s --baseline %%/b.csv --json %%/j --markdown %%/m", many);
    expect(scratch, command, 1, "300 findings");
    char *markdown = read_all(scratch, "m"); /* a header and ten */
    assert_int_equal(occurrences(markdown, "\n| "), 11);
    assert_non_null(strstr(markdown, "|\n\nand 290 more.\n\nTo reproduce them:"));
    free(markdown);
    json_t *report = load(scratch, "j"), *findings = json_object_get(report, "findings");
    assert_int_equal(json_array_size(findings), 300);
    for (size_t row = 0; row < csv.rows; row++) {
        for (size_t c = 0; c < csv.columns; c++) {
            const char *was = csv_cell(&before, row, c), *is = csv_cell(&csv, row, c);
            bool found = false;
            for (size_t i = 0; strcmp(was, is) != 0 && i < 300 && !found; i++) {
                const json_t *finding = json_array_get(findings, i);
                const json_t *key = json_object_get(finding, "key");
                found = strcmp(text_of(finding, "column"), csv_name(&csv, c)) == 0 &&
                        strcmp(text_of(finding, "obtained"), was) == 0 &&
                        strcmp(text_of(finding, "baseline"), is) == 0 &&
                        strcmp(text_of(key, "omega"), csv_cell(&csv, row, 9)) == 0 &&
                        strcmp(text_of(key, "layer"), csv_cell(&csv, row, 16)) == 0 &&
                        strcmp(text_of(key, "mask"), csv_cell(&csv, row, 2)) == 0;
            }
            assert_int_equal(found, strcmp(was, is) != 0);
            named += found;
        }
    }
    assert_int_equal(named, 300);
    json_decref(report);
    csv_clear(&csv);
    csv_clear(&before);
}

/* 256 and 1000 are 0 and 232 to a shell that gets a count. */
static void many_failing_rows_exit_one(void **state)
{
    expect(*state,
           "check --construction silu --n 1 --d 1 --omega 1 --seed 1:256 --tolerance 1e-300", 1,
           "FAIL: 256 of 256 rows");
    expect(*state,
           "check --construction silu --n 1 --d 1 --omega 1 --seed 1:1000 --tolerance 1e-300", 1,
           "FAIL: 1000 of 1000 rows");
}

static void tolerances_need_no_baseline(void **state)
{
    const Scratch *scratch = *state;
    const char *outer = getenv("TMPDIR");
    char *kept = outer == NULL ? NULL : strdup(outer);
    assert_int_equal(setenv("TMPDIR", scratch->directory, 1), 0);
    expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-12", 0, "PASS: 1 rows, 2 cells");
    expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-30", 1, "above the tolerance");
    expect(scratch, "check --n 2 --d 2 --omega 20 --tolerance 1e-30 --quiet", 1, "FAIL: 1 of 1");
    expect(scratch, "check --n 2 --d 2 --omega 20", 2, "or a tolerance for every point");
    assert_int_equal(kept == NULL ? unsetenv("TMPDIR") : setenv("TMPDIR", kept, 1), 0);
    free(kept);
    /* Nothing is left: the directory can be removed. */
    assert_int_equal(rmdir(scratch->directory), 0);
    assert_int_equal(mkdir(scratch->directory, 0700), 0);
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
        expect(scratch, cases[i].arguments, 2, cases[i].said);
    }
    assert_false(exists(scratch, "b.obtained"));
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
    expect(scratch, "check --n 2 --d 2 --baseline %/b.csv --json %/j", 2, "b.csv:2: token '1'");
    assert_false(exists(scratch, "b.csv.obtained"));
    assert_true(exists(scratch, "j"));
}

/* As Jenkins takes it (well-formed, where no xmllint is there). */
static void expect_xml(const Scratch *scratch, const char *name)
{
    char command[2 * SCRATCH_PATH];
    snprintf(command, sizeof command,
             "-c 'f=%s/%s; if command -v xmllint >/dev/null; then xmllint --noout --schema "
             "tests/data/junit.xsd $f 2>/dev/null; "
             "elif command -v python3 >/dev/null; then python3 -c \"import sys, "
             "xml.dom.minidom as m; m.parse(sys.argv[1])\" $f; fi'",
             scratch->directory, name);
    Output output = run_program("/bin/sh", command);
    assert_int_equal(output.code, 0);
    free(output.text);
}

static void another_machine_is_mentioned(void **state)
{
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH];
    expect(scratch, "check " GRID " --save-baseline %/b.csv", 0, NULL);
    json_t *sidecar = load(scratch, "b.csv.json");
    json_object_set_new(sidecar, "cpu", json_string("Difference Engine No. 2"));
    scratch_path(path, scratch, "b.csv.json");
    assert_int_equal(json_dump_file(sidecar, path, 0), 0);
    json_decref(sidecar);
    expect(scratch, "check " GRID " --baseline %/b.csv --junit-xml %/x --markdown %/m --json %/j",
           0, "note: the baseline's cpu is Difference Engine No. 2, this one's ");
    char *xml = read_all(scratch, "x"), *markdown = read_all(scratch, "m");
    json_t *report = load(scratch, "j"), *notes = json_object_get(report, "notes");
    expect_xml(scratch, "x");
    assert_non_null(strstr(xml, "<system-out>the baseline's cpu is Difference Engine No. 2, "));
    assert_non_null(strstr(markdown, " cells compared\n\n* the baseline"));
    assert_int_equal(json_array_size(notes), 1);
    assert_non_null(strstr(json_string_value(json_array_get(notes, 0)), "Difference Engine No. 2"));
    free(xml);
    free(markdown);
    json_decref(report);
}

/* A column that this version does not write is no row's fault: the command that finds it is the
 * check itself. */
static void a_foreign_column_is_the_tables_fault(void **state)
{
    const Scratch *scratch = *state;
    char path[SCRATCH_PATH];
    expect(scratch, "check --n 2 --d 2 --save-baseline %/b.csv", 0, NULL);
    char *text = read_all(scratch, "b.csv"), *at = text;
    scratch_path(path, scratch, "b.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int line = 0; *at != '\0'; line++) {
        size_t length = strcspn(at, "\n");
        fprintf(file, "%.*s,%s\n", (int)length, at, line == 0 ? "colour" : "red");
        at += length + 1;
    }
    assert_int_equal(fclose(file), 0);
    seal_table(path);
    free(text);
    expect(scratch, "check --n 2 --d 2 --baseline %/b.csv --markdown %/m --json %/j", 1,
           "  the tables\n    colour: a column that is missing\n"
           "    reproduce: headproof check --n 2 --d 2 --baseline ");
    text = read_all(scratch, "m");
    assert_non_null(strstr(text, "\n| the tables | colour | a column that is missing |"));
    json_t *report = load(scratch, "j");
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_string_equal(text_of(finding, "column"), "colour");
    assert_int_equal(strncmp(text_of(finding, "reproduce"), "headproof check --n 2", 21), 0);
    free(text);
    json_decref(report);
}

static void reports_say_the_same_and_are_well_formed(void **state)
{
    const Scratch *scratch = *state;
    Csv csv = {0};
    expect(scratch, "check " GRID " --save-baseline %/b.csv", 0, NULL);
    expect(scratch, "check " GRID " --baseline %/b.csv --junit-xml %/x --markdown %/m --json %/j",
           0, NULL);
    char *xml = read_all(scratch, "x"), *markdown = read_all(scratch, "m");
    expect_xml(scratch, "x");
    assert_int_equal(occurrences(xml, "<testcase "), 42);
    assert_int_equal(occurrences(xml, "<failure "), 0);
    assert_non_null(strstr(xml, "tests=\"42\" failures=\"0\""));
    assert_non_null(strstr(markdown, "PASS: 42 rows"));
    free(xml);
    free(markdown);
    read_table(&csv, scratch, "b.csv");
    csv.cells[3 * csv.columns + csv_find(&csv, "construction_max")] = "1e-900";
    csv.cells[3 * csv.columns + csv_find(&csv, "total_max")] = "1e-900";
    csv.cells[5 * csv.columns + csv_find(&csv, "options")] = "bias=<&>'|`\x01\xff;x=]]>";
    write_table(&csv, scratch, "b.csv");
    csv_clear(&csv);
    expect(scratch, "check " GRID " --baseline %/b.csv --junit-xml %/x --markdown %/m --json %/j",
           1, NULL);
    expect_xml(scratch, "x");
    xml = read_all(scratch, "x");
    markdown = read_all(scratch, "m");
    json_t *report = load(scratch, "j");
    json_t *list = json_object_get(report, "findings"), *finding;
    size_t findings = json_array_size(list), i, without = 0;
    json_array_foreach(list, i, finding)
    {
        const json_t *limit = json_object_get(finding, "limit");
        assert_true(json_is_null(limit) || *json_string_value(limit) != '\0');
        assert_true(json_is_null(limit) == (json_is_null(json_object_get(finding, "column")) != 0));
        without += json_is_null(limit);
    }
    assert_int_equal(without, 2); /* a row too many, and one that is missing */
    assert_true(findings > 3);
    /* A row counts once, however many of its cells differ. */
    assert_non_null(strstr(xml, "tests=\"43\" failures=\"3\""));
    assert_int_equal(occurrences(xml, "<failure "), findings);
    assert_int_equal(occurrences(xml, "<testcase "), 43); /* and the row that is missing */
    assert_non_null(strstr(xml, "bias=&lt;&amp;&gt;'|`\\x01\\xff;x=]]&gt;"));
    assert_non_null(strstr(markdown, "headproof sweep --construction silu"));
    assert_non_null(strstr(markdown, "construction\\_max"));
    assert_int_equal(occurrences(markdown, "\nheadproof sweep "), 3);
    free(xml);
    free(markdown);
    json_decref(report);
}

/* Cells, and the names of files, of any bytes that those can have: every report is what it
 * should be, and says none of it as it stands. */
static void reports_hold_any_text(void **state)
{
#define EVIL "\xef\x80\x80\xef\xbf\xbf\xff\x1b[2J\xe2\x80\xae\xc2\x9b|`<&\xc3\xa9"
    static const char *const reports[] = {"x", "m", "j"};
    const Scratch *scratch = *state;
    Csv csv = {0};
    expect(scratch, "check --n 2 --d 2 --save-baseline '%/" EVIL ".csv'", 0, NULL);
    read_table(&csv, scratch, EVIL ".csv");
    csv.cells[csv.columns + csv_find(&csv, "options")] = EVIL "=" EVIL;
    csv.cells[csv.columns + csv_find(&csv, "weights")] = EVIL;
    write_table(&csv, scratch, EVIL ".csv");
    csv_clear(&csv);
    Output said = check(scratch, "check --n 2 --d 2 --baseline '%/" EVIL ".csv' --junit-xml %/x "
                                 "--markdown %/m --json %/j");
    assert_int_equal(said.code, 1);
    expect_xml(scratch, "x");
    json_decref(load(scratch, "j"));
    for (size_t i = 0; i <= sizeof reports / sizeof *reports; i++) {
        bool is_said = i == sizeof reports / sizeof *reports;
        char *text = is_said ? said.text : read_all(scratch, reports[i]);
        json_t *valid = json_string(text);
        assert_non_null(valid);
        json_decref(valid);
        assert_int_equal(strcspn(text, "\x1b"), strlen(text));
        assert_null(strstr(text, "\xe2\x80\xae"));
        assert_null(strstr(text, "\xef\xbf\xbf"));
        const char *const shown = is_said  ? "\\xff\\x1b[2J\\u{202e}"
                                  : i == 1 ? "\\\\xff\\\\x1b\\[2J\\\\u\\{202e\\}"
                                  : i == 2 ? "\\\\xff\\\\x1b[2J\\\\u{202e}" /* a string's */
                                           : "\\xff\\x1b[2J\\u{202e}";
        assert_non_null(strstr(text, shown));
        free(text);
    }
#undef EVIL
}

/* Every test case has seconds, and the suite their sum. */
static void seconds_are_reported(void **state)
{
    const Scratch *scratch = *state;
    expect(scratch, "check " GRID " --save-baseline %/b.csv --junit-xml %/x", 0, NULL);
    char *xml = read_all(scratch, "x"), *next = xml;
    double suite = 0, sum = 0;
    expect_xml(scratch, "x");
    assert_int_equal(occurrences(xml, " time=\""), 43);
    for (size_t i = 0; i < 43; i++) {
        next = strstr(next, " time=\"") + strlen(" time=\"");
        double seconds = strtod(next, &next);
        assert_true(*next == '"' && seconds >= 0);
        suite = i == 0 ? seconds : suite;
        sum += i == 0 ? 0 : seconds;
    }
    assert_true(suite > 0 && fabs(suite - sum) < 1e-4);
    free(xml);
}

/* The line that a report gives for a failing row evaluates that row. */
static void reproducing_lines_reproduce(void **state)
{
    const Scratch *scratch = *state;
    Csv csv = {0};
    expect(scratch, "check " GRID " --save-baseline %/b.csv", 0, NULL);
    read_table(&csv, scratch, "b.csv");
    char *key = strdup(csv_cell(&csv, 7, 0));
    csv.cells[8 * csv.columns + csv_find(&csv, "seed")] = "77"; /* missing, and one too many */
    write_table(&csv, scratch, "b.csv");
    expect(scratch, "check " GRID " --baseline %/b.csv --json %/j", 1, "2 findings");
    json_t *report = load(scratch, "j"), *findings = json_object_get(report, "findings");
    for (size_t i = 0; i < 2; i++) {
        const char *command = text_of(json_array_get(findings, i), "reproduce");
        assert_int_equal(strncmp(command, "headproof sweep ", 16), 0);
        Output output = check(scratch, command + strlen("headproof "));
        assert_int_equal(output.code, 0);
        assert_int_equal(lines(&output), 3); /* both layers */
        expect_cell(&output, 1, "construction", key);
        expect_cell(&output, 1, "omega", csv_cell(&csv, 7, csv_find(&csv, "omega")));
        expect_cell(&output, 1, "options", csv_cell(&csv, 7, csv_find(&csv, "options")));
        expect_cell(&output, 1, "seed", i == 0 ? "1" : "77");
        free(output.text);
    }
    json_decref(report);
    csv_clear(&csv);
    free(key);
}

/* Killed while it sweeps, a check leaves its points beside the baseline; with --resume it goes on
 * with them to the verdict of a check that nothing happened to, and leaves nothing. */
static void an_interrupted_check_goes_on(void **state)
{
    static const char check_line[] =
        "check --construction fused --n 8 --d 6 --depth 30 --omega 8:20 --seed 1:3 --threads 1";
    const Scratch *scratch = *state;
    char line[1024], partial[SCRATCH_PATH];
    int status, kills = 0;
    snprintf(line, sizeof line, "%s --save-baseline %%/base.csv", check_line);
    expect(scratch, line, 0, "saved: ");
    scratch_path(partial, scratch, "base.csv.obtained.partial");
    snprintf(line, sizeof line, "%s --baseline %s/base.csv --resume --quiet --checkpoint 0",
             check_line, scratch->directory);
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
    expect(scratch, line, 0, " of 39 points are there already");
    assert_false(exists(scratch, "base.csv.obtained") ||
                 exists(scratch, "base.csv.obtained.partial") ||
                 exists(scratch, "base.csv.obtained.json.partial") ||
                 exists(scratch, "base.csv.obtained.checkpoint"));
    /* Without a baseline there is no file to go on with. */
    expect(scratch, "check --construction silu --tolerance 1 --resume", 2, "--resume: ");
}

int main(void)
{
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_set_up, fixture_tear_down)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(an_interrupted_check_goes_on),
        IN_SCRATCH(a_baseline_is_saved_once_and_met),
        IN_SCRATCH(a_failing_baseline_is_not_saved),
        IN_SCRATCH(a_baseline_is_updated),
        IN_SCRATCH(a_mistyped_baseline_is_refused_before_any_work),
        IN_SCRATCH(baselines_are_as_they_were_saved),
        IN_SCRATCH(nan_against_nan_fails),
        IN_SCRATCH(zero_against_zero_fails),
        IN_SCRATCH(three_hundred_altered_digits_are_all_named),
        IN_SCRATCH(many_failing_rows_exit_one),
        IN_SCRATCH(tolerances_need_no_baseline),
        IN_SCRATCH(bad_usage_exits_two),
        IN_SCRATCH(a_damaged_baseline_exits_two),
        IN_SCRATCH(another_machine_is_mentioned),
        IN_SCRATCH(a_foreign_column_is_the_tables_fault),
        IN_SCRATCH(reports_say_the_same_and_are_well_formed),
        IN_SCRATCH(reports_hold_any_text),
        IN_SCRATCH(seconds_are_reported),
        IN_SCRATCH(reproducing_lines_reproduce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
