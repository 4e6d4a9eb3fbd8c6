/*
 * The reports that are files.
 */
#include <stdio.h>

#include "report.h"

#include "../../table/columns.h"

#include "../../base/info.h"
#include "../../base/shown.h"
#include "../../table/sidecar.h"

#include "../../../cases/case.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int stream_status(FILE *file)
{
    return ferror(file) ? -1 : 0;
}

static int short_of_memory(void)
{
    errno = ENOMEM;
    return -1;
}

/* ---- XML ------------------------------------------------------------------------------------ */

static int write_escaped(FILE *file, const char *text)
{
    shown_write(file, SHOWN_XML, text);
    return stream_status(file);
}

/* <failure message="column: reason: obtained, baseline ...">the command</failure> */
static int write_failure(FILE *file, const Check *check, const Finding *finding)
{
    char *command = report_command(check, finding);
    if (command == NULL) {
        return short_of_memory();
    }
    int status = 0;
    fputs("      <failure message=\"", file);
    if (finding->column != NULL) {
        status |= write_escaped(file, finding->column);
        fputs(": ", file);
    }
    status |= write_escaped(file, finding->reason);
    if (finding->obtained != NULL) {
        fprintf(file, "; obtained %s", report_prefix(finding->obtained_bound));
        status |= write_escaped(file, finding->obtained);
    }
    if (finding->baseline != NULL) {
        fprintf(file, ", baseline %s", report_prefix(finding->baseline_bound));
        status |= write_escaped(file, finding->baseline);
    }
    if (*finding->limit != '\0') {
        fprintf(file, ", limit %s", finding->limit);
    }
    fputs("\">", file);
    status |= write_escaped(file, command);
    fputs("</failure>\n", file);
    free(command);
    return status;
}

/* In the order of tables and rows; findings about no row last. */
static int compare_places(const void *a, const void *b)
{
    const Finding *left = *(const Finding *const *)a, *right = *(const Finding *const *)b;
    if (left->table != right->table) {
        /* The obtained table comes before the baseline in a Check. */
        return left->table == NULL || (right->table != NULL && left->table > right->table) ? 1 : -1;
    }
    if (left->row != right->row) {
        return left->row > right->row ? 1 : -1;
    }
    return (left->order > right->order) - (left->order < right->order);
}

/* What a row took; 0 for what was not evaluated. */
static double seconds_of(const Check *check, const Csv *table, size_t row)
{
    return table == &check->obtained && check->seconds != NULL ? check->seconds[row] : 0;
}

static double seconds_of_all(const Check *check)
{
    double sum = 0;
    for (size_t row = 0; row < check->obtained.rows; row++) {
        sum += seconds_of(check, &check->obtained, row);
    }
    return sum;
}

static int write_case(FILE *file, const Check *check, const Csv *table, size_t row,
                      const Finding *const *findings, size_t count)
{
    Finding place = {.table = table, .row = row};
    char *key = report_key(&place);
    if (key == NULL) {
        return short_of_memory();
    }
    fputs("    <testcase classname=\"headproof.check\" name=\"", file);
    int status = write_escaped(file, key);
    fprintf(file, "\" time=\"%.6f\"%s>\n", seconds_of(check, table, row), count > 0 ? "" : "/");
    for (size_t i = 0; i < count; i++) {
        status |= write_failure(file, check, findings[i]);
    }
    if (count > 0) {
        fputs("    </testcase>\n", file);
    }
    free(key);
    return status;
}

/* How many findings from `from` on are about the same row. */
static size_t same_place(const Finding *const *findings, size_t from, size_t count)
{
    size_t same = from;
    while (same < count && finding_same_row(findings[same], findings[from])) {
        same++;
    }
    return same - from;
}

/* Every obtained row, and every other place that has findings.  *cases and *failed count them; file
 * NULL: counts only. */
static int write_cases(FILE *file, const Check *check, const Finding *const *findings,
                       size_t *cases, size_t *failed)
{
    size_t next = 0;
    int status = 0;
    *cases = *failed = 0;
    for (size_t row = 0; row < check->obtained.rows; row++, ++*cases) {
        bool has = next < check->finding_count && findings[next]->table == &check->obtained &&
                   findings[next]->row == row;
        size_t count = has ? same_place(findings, next, check->finding_count) : 0;
        if (file != NULL) {
            status |= write_case(file, check, &check->obtained, row, findings + next, count);
        }
        next += count;
        *failed += has;
    }
    while (next < check->finding_count) {
        size_t count = same_place(findings, next, check->finding_count);
        if (file != NULL) {
            status |= write_case(file, check, findings[next]->table, findings[next]->row,
                                 findings + next, count);
        }
        next += count;
        ++*cases;
        ++*failed;
    }
    return status;
}

int report_xml(FILE *file, const Check *check)
{
    size_t cases, failed, count = check->finding_count;
    const Finding **findings = calloc(count > 0 ? count : 1, sizeof *findings);
    char verdict[VERDICT_TEXT];
    if (findings == NULL) {
        return short_of_memory();
    }
    for (size_t i = 0; i < count; i++) {
        findings[i] = &check->findings[i];
    }
    qsort(findings, count, sizeof *findings, compare_places);
    int status = write_cases(NULL, check, findings, &cases, &failed);
    report_verdict(verdict, check);
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n  <testsuite name=\"headproof check\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"0\" skipped=\"0\" time=\"%.6f\">\n",
            cases, failed, seconds_of_all(check));
    status |= write_cases(file, check, findings, &cases, &failed);
    fputs("    <system-out>", file);
    for (size_t i = 0; i < check->mention_count; i++) {
        status |= write_escaped(file, check->mentions[i]);
        putc('\n', file);
    }
    fprintf(file, "%s</system-out>\n  </testsuite>\n</testsuites>\n", verdict);
    free(findings);
    return status != 0 ? -1 : stream_status(file);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

/* bound: it is only that. */
static void write_cell(FILE *file, const char *text, bool bound)
{
    fprintf(file, "| %s", report_prefix(bound));
    shown_write(file, SHOWN_MARKDOWN, text != NULL ? text : "");
    putc(' ', file);
}

static int write_findings(FILE *file, const Check *check, size_t shown)
{
    fputs("\n| row | column | reason | obtained | baseline | ratio | limit |\n"
          "|---|---|---|---|---|---|---|\n",
          file);
    for (size_t i = 0; i < shown; i++) {
        const Finding *finding = &check->findings[i];
        char *key = report_key(finding);
        if (key == NULL) {
            return short_of_memory();
        }
        const char *const cells[] = {key,
                                     finding->column,
                                     finding->reason,
                                     finding->obtained,
                                     finding->baseline,
                                     finding->ratio,
                                     finding->limit};
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
            bool bound =
                cells[c] != NULL && ((cells[c] == finding->obtained && finding->obtained_bound) ||
                                     (cells[c] == finding->baseline && finding->baseline_bound));
            write_cell(file, cells[c], bound);
        }
        fputs("|\n", file);
        free(key);
    }
    if (shown < check->finding_count) {
        fprintf(file, "\nand %zu more.\n", check->finding_count - shown);
    }
    fputs("\nTo reproduce them:\n\n```\n", file);
    for (size_t i = 0; i < shown; i++) {
        const Finding *finding = &check->findings[i];
        if (i == 0 || !finding_same_row(finding, finding - 1)) {
            finding_print_command(file, check, finding);
            putc('\n', file);
        }
    }
    fputs("```\n", file);
    return stream_status(file);
}

int report_markdown(FILE *file, const Check *check)
{
    size_t shown =
        check->finding_count < FINDINGS_SHOWN ? check->finding_count : (size_t)FINDINGS_SHOWN;
    char verdict[VERDICT_TEXT];
    int status = 0;
    report_verdict(verdict, check);
    fprintf(file, "### headproof check: %s\n", verdict);
    if (check->mention_count > 0) {
        putc('\n', file);
    }
    for (size_t i = 0; i < check->mention_count; i++) {
        fputs("* ", file);
        shown_write(file, SHOWN_MARKDOWN, check->mentions[i]);
        putc('\n', file);
    }
    if (shown > 0) {
        status = write_findings(file, check, shown);
    }
    return status != 0 ? status : stream_status(file);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* null for NULL. */
static json_t *text_value(const char *text)
{
    return text == NULL ? json_null() : sidecar_text(text);
}

static json_t *key_value(const Finding *finding)
{
    json_t *key = json_object();
    int status = 0;
    for (size_t i = 0; finding->row != NO_ROW && column_key(i) != NULL; i++) {
        const Csv *table = finding->table;
        status |= json_object_set_new(
            key, column_key(i),
            text_value(csv_cell(table, finding->row, csv_find(table, column_key(i)))));
    }
    if (status != 0) {
        json_decref(key);
        key = NULL;
    }
    return key;
}

static json_t *finding_value(const Check *check, const Finding *finding)
{
    json_t *object = json_object();
    char *command = report_command(check, finding);
    const char *ratio = *finding->ratio == '\0' ? NULL : finding->ratio;
    const char *limit = *finding->limit == '\0' ? NULL : finding->limit;
    int status =
        json_object_set_new(object, "key", key_value(finding)) |
        json_object_set_new(object, "column", text_value(finding->column)) |
        json_object_set_new(object, "reason", text_value(finding->reason)) |
        json_object_set_new(object, "obtained", text_value(finding->obtained)) |
        json_object_set_new(object, "baseline", text_value(finding->baseline)) |
        json_object_set_new(object, "obtained_is_bound", json_boolean(finding->obtained_bound)) |
        json_object_set_new(object, "baseline_is_bound", json_boolean(finding->baseline_bound)) |
        json_object_set_new(object, "ratio", text_value(ratio)) |
        json_object_set_new(object, "limit", text_value(limit)) |
        json_object_set_new(object, "reproduce", command == NULL ? NULL : text_value(command));
    free(command);
    if (status != 0) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static json_t *findings_value(const Check *check)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < check->finding_count; i++) {
        if (json_array_append_new(list, finding_value(check, &check->findings[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *mentions_value(const Check *check)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < check->mention_count; i++) {
        if (json_array_append_new(list, text_value(check->mentions[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *count_value(size_t count)
{
    return json_integer((json_int_t)count);
}

int report_json(FILE *file, const Check *check)
{
    json_t *object = json_object();
    int status =
        json_object_set_new(object, "schema", json_integer(1)) |
        json_object_set_new(object, "version", text_value(info_version())) |
        json_object_set_new(object, "verdict", text_value(check_passes(check) ? "pass" : "fail")) |
        json_object_set_new(object, "baseline", text_value(check->options->baseline)) |
        json_object_set_new(object, "rows", count_value(check->rows)) |
        json_object_set_new(object, "rows_failed", count_value(check->failed)) |
        json_object_set_new(object, "cells", count_value(check->cells)) |
        json_object_set_new(object, "notes", mentions_value(check)) |
        json_object_set_new(object, "findings", findings_value(check));
    if (status != 0) {
        json_decref(object);
        return short_of_memory();
    }
    status = json_dumpf(object, file, JSON_INDENT(1));
    json_decref(object);
    return status == 0 && putc('\n', file) != EOF ? stream_status(file) : -1;
}
