/*
 * The reports of headproof check: what they say of a table's findings, in every form, and of what.
 */
#include "../check_fixture.h"
#include "check_program.h"
#include "../fixture.h"
#include "../unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Is one of 300 findings that of the cell, which was and is now something else? */
static bool is_found(const json_t *findings, const Csv *csv, size_t row, size_t c, const char *was)
{
    bool found = false;
    for (size_t i = 0; i < 300 && !found; i++) {
        const json_t *finding = json_array_get(findings, i);
        const json_t *key = json_object_get(finding, "key");
        found = strcmp(json_text(finding, "column"), csv_name(csv, c)) == 0 &&
                strcmp(json_text(finding, "obtained"), was) == 0 &&
                strcmp(json_text(finding, "baseline"), csv_cell(csv, row, c)) == 0 &&
                strcmp(json_text(key, "omega"), csv_cell(csv, row, 9)) == 0 &&
                strcmp(json_text(key, "layer"), csv_cell(csv, row, 16)) == 0 &&
                strcmp(json_text(key, "mask"), csv_cell(csv, row, 2)) == 0;
    }
    return found;
}

static void three_hundred_altered_digits_are_all_named(void **state)
{
    static const char many[] = "check " CHECK_GRID " --mask none,causal --seed 1:2";
    static char altered[300][32];
    const Scratch *scratch = *state;
    char command[512];
    Csv csv = {0}, before = {0};
    size_t named = 0;
    snprintf(command, sizeof command, "%s --save-baseline %%/b.csv", many);
    check_expect(scratch, command, 0, NULL);
    check_read_table(&csv, scratch, "b.csv");
    check_read_table(&before, scratch, "b.csv");
    assert_int_equal(alter(&csv, altered, 300), 300);
    check_write_table(&csv, scratch, "b.csv");
    snprintf(command, sizeof command, "%s --baseline %%/b.csv --json %%/j --markdown %%/m", many);
    check_expect(scratch, command, 1, "300 findings");
    char *markdown = check_text(scratch, "m"); /* a header and ten */
    assert_int_equal(count_words(markdown, "\n| "), 11);
    assert_non_null(strstr(markdown, "|\n\nand 290 more.\n\nTo reproduce them:"));
    free(markdown);
    json_t *report = check_json(scratch, "j"), *findings = json_object_get(report, "findings");
    assert_int_equal(json_array_size(findings), 300);
    for (size_t row = 0; row < csv.rows; row++) {
        for (size_t c = 0; c < csv.columns; c++) {
            const char *was = csv_cell(&before, row, c);
            if (strcmp(was, csv_cell(&csv, row, c)) != 0) {
                assert_true(is_found(findings, &csv, row, c, was));
                named++;
            }
        }
    }
    assert_int_equal(named, 300);
    json_decref(report);
    csv_clear(&csv);
    csv_clear(&before);
}

static void another_machine_is_mentioned(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, "check " CHECK_GRID " --save-baseline %/b.csv", 0, NULL);
    json_t *sidecar = check_json(scratch, "b.csv.json");
    json_object_set_new(sidecar, "cpu", json_string("Difference Engine No. 2"));
    assert_int_equal(json_dump_file(sidecar, path_in(scratch, "b.csv.json"), 0), 0);
    json_decref(sidecar);
    check_expect(scratch,
                 "check " CHECK_GRID
                 " --baseline %/b.csv --junit-xml %/x --markdown %/m --json %/j",
                 0, "note: the baseline's cpu is Difference Engine No. 2, this one's ");
    char *xml = check_text(scratch, "x"), *markdown = check_text(scratch, "m");
    json_t *report = check_json(scratch, "j"), *notes = json_object_get(report, "notes");
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
    check_expect(scratch, "check --n 2 --d 2 --save-baseline %/b.csv", 0, NULL);
    char *text = check_text(scratch, "b.csv"), *at = text;
    const char *path = path_in(scratch, "b.csv");
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
    check_expect(scratch, "check --n 2 --d 2 --baseline %/b.csv --markdown %/m --json %/j", 1,
                 "  the tables\n    colour: a column that is missing\n"
                 "    reproduce: headproof check --n 2 --d 2 --baseline ");
    text = check_text(scratch, "m");
    assert_non_null(strstr(text, "\n| the tables | colour | a column that is missing |"));
    json_t *report = check_json(scratch, "j");
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    assert_string_equal(json_text(finding, "column"), "colour");
    assert_int_equal(strncmp(json_text(finding, "reproduce"), "headproof check --n 2", 21), 0);
    free(text);
    json_decref(report);
}

static const char all_reports[] =
    "check " CHECK_GRID " --baseline %/b.csv --junit-xml %/x --markdown %/m --json %/j";

static void reports_of_what_passes_are_well_formed(void **state)
{
    const Scratch *scratch = *state;
    check_expect(scratch, "check " CHECK_GRID " --save-baseline %/b.csv", 0, NULL);
    check_expect(scratch, all_reports, 0, NULL);
    char *xml = check_text(scratch, "x"), *markdown = check_text(scratch, "m");
    expect_xml(scratch, "x");
    assert_int_equal(count_words(xml, "<testcase "), 42);
    assert_int_equal(count_words(xml, "<failure "), 0);
    assert_non_null(strstr(xml, "tests=\"42\" failures=\"0\""));
    assert_non_null(strstr(markdown, "PASS: 42 rows"));
    free(xml);
    free(markdown);
}

static void reports_of_what_fails_say_the_same(void **state)
{
    const Scratch *scratch = *state;
    Csv csv = {0};
    check_expect(scratch, "check " CHECK_GRID " --save-baseline %/b.csv", 0, NULL);
    check_read_table(&csv, scratch, "b.csv");
    csv.cells[3 * csv.columns + csv_find(&csv, "construction_max")] = "1e-900";
    csv.cells[3 * csv.columns + csv_find(&csv, "total_max")] = "1e-900";
    csv.cells[5 * csv.columns + csv_find(&csv, "options")] = "bias=<&>'|`\x01\xff;x=]]>";
    check_write_table(&csv, scratch, "b.csv");
    csv_clear(&csv);
    check_expect(scratch, all_reports, 1, NULL);
    expect_xml(scratch, "x");
    char *xml = check_text(scratch, "x"), *markdown = check_text(scratch, "m");
    json_t *report = check_json(scratch, "j");
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
    assert_int_equal(count_words(xml, "<failure "), findings);
    assert_int_equal(count_words(xml, "<testcase "), 43); /* and the row that is missing */
    assert_non_null(strstr(xml, "bias=&lt;&amp;&gt;'|`\\x01\\xff;x=]]&gt;"));
    assert_non_null(strstr(markdown, "headproof sweep --construction silu"));
    assert_non_null(strstr(markdown, "construction\\_max"));
    assert_int_equal(count_words(markdown, "\nheadproof sweep "), 3);
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
    check_expect(scratch, "check --n 2 --d 2 --save-baseline '%/" EVIL ".csv'", 0, NULL);
    check_read_table(&csv, scratch, EVIL ".csv");
    csv.cells[csv.columns + csv_find(&csv, "options")] = EVIL "=" EVIL;
    csv.cells[csv.columns + csv_find(&csv, "weights")] = EVIL;
    check_write_table(&csv, scratch, EVIL ".csv");
    csv_clear(&csv);
    Output said =
        check_run(scratch, "check --n 2 --d 2 --baseline '%/" EVIL ".csv' --junit-xml %/x "
                           "--markdown %/m --json %/j");
    assert_int_equal(said.code, 1);
    expect_xml(scratch, "x");
    json_decref(check_json(scratch, "j"));
    for (size_t i = 0; i <= sizeof reports / sizeof *reports; i++) {
        bool is_said = i == sizeof reports / sizeof *reports;
        char *text = is_said ? said.text : check_text(scratch, reports[i]);
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
    check_expect(scratch, "check " CHECK_GRID " --save-baseline %/b.csv --junit-xml %/x", 0, NULL);
    char *xml = check_text(scratch, "x"), *next = xml;
    double suite = 0, sum = 0;
    expect_xml(scratch, "x");
    assert_int_equal(count_words(xml, " time=\""), 43);
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
    check_expect(scratch, "check " CHECK_GRID " --save-baseline %/b.csv", 0, NULL);
    check_read_table(&csv, scratch, "b.csv");
    char *key = strdup(csv_cell(&csv, 7, 0));
    csv.cells[8 * csv.columns + csv_find(&csv, "seed")] = "77"; /* missing, and one too many */
    check_write_table(&csv, scratch, "b.csv");
    check_expect(scratch, "check " CHECK_GRID " --baseline %/b.csv --json %/j", 1, "2 findings");
    json_t *report = check_json(scratch, "j"), *findings = json_object_get(report, "findings");
    for (size_t i = 0; i < 2; i++) {
        const char *command = json_text(json_array_get(findings, i), "reproduce");
        assert_int_equal(strncmp(command, "headproof sweep ", 16), 0);
        Output output = check_run(scratch, command + strlen("headproof "));
        assert_int_equal(output.code, 0);
        assert_int_equal(lines(&output), 3); /* both layers */
        expect_cell(&output, 1, "construction", key);
        expect_cell(&output, 1, "omega", csv_cell(&csv, 7, csv_find(&csv, "omega")));
        expect_cell(&output, 1, "options", csv_cell(&csv, 7, csv_find(&csv, "options")));
        expect_cell(&output, 1, "seed", i == 0 ? "1" : "77");
    }
    json_decref(report);
    csv_clear(&csv);
    free(key);
}

SUBJECT(check_reports)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(three_hundred_altered_digits_are_all_named),
        SCRATCH_TEST(another_machine_is_mentioned),
        SCRATCH_TEST(a_foreign_column_is_the_tables_fault),
        SCRATCH_TEST(reports_of_what_passes_are_well_formed),
        SCRATCH_TEST(reports_of_what_fails_say_the_same),
        SCRATCH_TEST(reports_hold_any_text),
        SCRATCH_TEST(seconds_are_reported),
        SCRATCH_TEST(reproducing_lines_reproduce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
