/*
 * What a report says of one file.
 */
#include "section.h"

#include "drawing.h"

#include "../../base/number.h"
#include "../../base/shown.h"
#include "../../table/columns.h"
#include "../../table/format.h"
#include "../../table/sidecar.h"

#include <stdlib.h>
#include <string.h>

/* Rows and failures that are shown; the rest is counted. */
enum { ROWS_SHOWN = 40, FAILURES_SHOWN = 50 };

void section_text(FILE *file, const char *text)
{
    shown_write(file, SHOWN_XML, text);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "; 3 rows fail, 1 row overflow": the statuses that are not good; "none" is min-omega's. */
static void write_reasons(char *text, size_t size, const Subject *subject)
{
    size_t used = 0;
    for (Status status = 0; status <= STATUS_OK && used < size; status++) {
        const char *name = status == STATUS_OK ? "none" : status_name(status);
        size_t count = 0;
        for (size_t row = 0; row < subject->csv.rows; row++) {
            count += strcmp(subject_status(subject, row), name) == 0;
        }
        if (count > 0 && status != STATUS_UNRESOLVED) {
            used += (size_t)snprintf(text + used, size - used, "%s %zu row%s %s",
                                     used == 0 ? ";" : ",", count, plural(count), name);
        }
    }
}

void section_verdict(char text[SECTION_VERDICT], const Subject *subject)
{
    size_t rows = subject->csv.rows, points = subject->points, failed = subject->failed;
    size_t all = points > 0 ? points : rows;
    const char *what = points > 0 ? "point" : "row";
    char reasons[SECTION_VERDICT / 2] = "";
    const json_t *cases = json_object_get(subject->check, "cases"); /* of verify, min-omega */
    if (subject->kind == SUBJECT_CHECK && subject->passes && cases != NULL) {
        size_t count = json_array_size(cases);
        snprintf(text, SECTION_VERDICT, "PASS: %zu case%s", count, plural(count));
    } else if (subject->kind == SUBJECT_CHECK && subject->passes) {
        snprintf(text, SECTION_VERDICT, "PASS: every row is as good as the baseline's");
    } else if (subject->kind == SUBJECT_CHECK) {
        const json_t *first = json_array_get(json_object_get(subject->check, "findings"), 0);
        snprintf(text, SECTION_VERDICT, "FAIL: %zu row%s, %zu finding%s; the first: %.40s %.60s",
                 failed, plural(failed), points, plural(points), sidecar_get(first, "column"),
                 sidecar_get(first, "reason"));
    } else if (subject->passes) {
        snprintf(text, SECTION_VERDICT, "PASS: %zu %s%s, %zu row%s", all, what, plural(all), rows,
                 plural(rows));
    } else {
        write_reasons(reasons, sizeof reasons, subject);
        snprintf(text, SECTION_VERDICT, "FAIL: %zu of %zu %s%s%s", failed, all, what, plural(all),
                 reasons);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A number with an exponent has three digits, as on a terminal. */
static void write_cell(FILE *file, const char *text)
{
    Number number;
    if (strchr(text, 'e') != NULL && number_read(&number, text) && number.kind == NUMBER_FINITE &&
        number.digits != 0) {
        double mantissa = (double)number.digits / 1e16;
        bool carries = mantissa >= 9.995;
        fprintf(file, "%s%.2fe%+03ld", number.negative ? "&minus;" : "", carries ? 1 : mantissa,
                number.exponent + carries);
    } else {
        section_text(file, text);
    }
}

/* Does a column say something that differs from row to row, or an error? */
static bool is_shown(const Csv *csv, size_t column, bool all)
{
    const Column *known = column_find(csv_name(csv, column));
    bool blank = true, same = true, error = false;
    const char *first = NULL;
    for (size_t row = 0; row < csv->rows; row++) {
        const char *text = csv_cell(csv, row, column);
        if (*text != '\0') {
            first = first == NULL ? text : first;
            blank = false;
            same = same && strcmp(text, first) == 0;
        }
    }
    for (ErrorKind kind = 0; kind < ERROR_KINDS && known != NULL; kind++) {
        error = error || known == column_of_error(kind, NORM_MAX);
    }
    bool key = known == NULL && !same;
    bool status = known != NULL && known->kind == COLUMN_STATUS;
    return !blank && (all || key || status || error);
}

static void write_row(FILE *file, const Subject *subject, const bool *shown_columns, size_t row)
{
    fprintf(file, "<tr%s>", subject_row_fails(subject, row) ? " class=\"fail\"" : "");
    for (size_t column = 0; column < subject->csv.columns; column++) {
        if (shown_columns[column]) {
            const char *text = csv_cell(&subject->csv, row, column);
            fputs(format_is_number(text) ? "<td class=\"n\">" : "<td>", file);
            write_cell(file, text);
            fputs("</td>", file);
        }
    }
    fputs("</tr>\n", file);
}

/* Rows that fail come first. */
static void write_body(FILE *file, const Subject *subject, const bool *shown_columns)
{
    size_t written = 0;
    for (int fails = 1; fails >= 0; fails--) {
        for (size_t row = 0; row < subject->csv.rows && written < ROWS_SHOWN; row++) {
            if (subject_row_fails(subject, row) == (fails == 1)) {
                write_row(file, subject, shown_columns, row);
                written++;
            }
        }
    }
}

static int write_rows(FILE *file, const Subject *subject)
{
    const Csv *csv = &subject->csv;
    bool *shown_columns = calloc(csv->columns + 1, sizeof *shown_columns);
    if (shown_columns == NULL) {
        return -1;
    }
    fputs("<h3>Rows</h3>\n<div class=\"wide\"><table>\n<thead><tr>", file);
    for (size_t column = 0; column < csv->columns; column++) {
        shown_columns[column] = is_shown(csv, column, subject->kind == SUBJECT_TABLE);
        if (shown_columns[column]) {
            fputs("<th scope=\"col\">", file);
            section_text(file, csv_name(csv, column));
            fputs("</th>", file);
        }
    }
    fputs("</tr></thead>\n<tbody>\n", file);
    write_body(file, subject, shown_columns);
    fputs("</tbody>\n</table></div>\n", file);
    if (csv->rows > ROWS_SHOWN) {
        fprintf(file,
                "<p>%d of %zu rows, those that fail first. Columns that do not vary are "
                "left out.</p>\n",
                ROWS_SHOWN, csv->rows);
    }
    free(shown_columns);
    return 0;
}

/* ---- Failures -------------------------------------------------------------------------------- */

static void write_code(FILE *file, const char *text)
{
    fputs("<pre><code>", file);
    section_text(file, text);
    fputs("</code></pre>\n", file);
}

static void write_more(FILE *file, size_t count)
{
    if (count > FAILURES_SHOWN) {
        fprintf(file, "<p>and %zu more</p>\n", count - FAILURES_SHOWN);
    }
}

/* The points that fail, each with the command that evaluates it again. */
static void write_failed_points(FILE *file, const Subject *subject)
{
    const json_t *point;
    size_t index, written = 0;
    fputs("<h3>Failures</h3>\n", file);
    json_array_foreach(json_object_get(subject->sidecar, "points"), index, point)
    {
        if (json_is_false(json_object_get(point, "passed")) && written < FAILURES_SHOWN) {
            write_code(file, sidecar_get(point, "command"));
            written++;
        }
    }
    if (written == 0) {
        fputs("<p>No sidecar names the commands; the rows above say which.</p>\n", file);
    }
    write_more(file, written > 0 ? subject->failed : 0);
}

static void write_finding(FILE *file, const json_t *finding)
{
    fputs("<p><strong>", file);
    section_text(file, sidecar_get(finding, "column"));
    fputs("</strong> ", file);
    section_text(file, sidecar_get(finding, "reason"));
    static const char *const keys[] = {"obtained", "baseline", "ratio", "limit"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = sidecar_get(finding, keys[i]);
        if (*value != '\0') {
            fprintf(file, ", %s ", keys[i]);
            write_cell(file, value);
        }
    }
    fputs("</p>\n", file);
    write_code(file, sidecar_get(finding, "reproduce"));
}

static void write_findings(FILE *file, const Subject *subject)
{
    const json_t *item;
    size_t index;
    json_array_foreach(json_object_get(subject->check, "notes"), index, item)
    {
        fputs("<p>Note: ", file);
        section_text(file, json_is_string(item) ? json_string_value(item) : "");
        fputs("</p>\n", file);
    }
    if (subject->points > 0) {
        fputs("<h3>Failures</h3>\n", file);
    }
    json_array_foreach(json_object_get(subject->check, "findings"), index, item)
    {
        if (index < FAILURES_SHOWN) {
            write_finding(file, item);
        }
    }
    write_more(file, subject->points);
}

/* ---- Where it was run ------------------------------------------------------------------------ */

static void write_fact(FILE *file, const char *name, const char *value)
{
    if (*value != '\0') {
        fprintf(file, "<dt>%s</dt><dd>", name);
        section_text(file, value);
        fputs("</dd>\n", file);
    }
}

static void write_command(FILE *file, const json_t *words)
{
    const json_t *word;
    size_t index;
    fputs("<dt>command</dt><dd><code>", file);
    json_array_foreach(words, index, word)
    {
        char *quoted = shown_copy(SHOWN_SHELL, json_is_string(word) ? json_string_value(word) : "");
        fputs(index > 0 ? " " : "", file);
        section_text(file, quoted != NULL ? quoted : "...");
        free(quoted);
    }
    fputs("</code></dd>\n", file);
}

static void write_facts(FILE *file, const Subject *subject)
{
    static const char *const keys[] = {
        "date",         "version",     "commit",        "compiler",      "flags",
        "system",       "cpu",         "cpu_cores",     "openblas_core", "openblas_config",
        "mpfr_runtime", "gmp_runtime", "flint_runtime", "mpi",           "digest"};
    const json_t *facts = subject->kind == SUBJECT_CHECK ? subject->check : subject->sidecar;
    fputs("<h3>Where it was run</h3>\n<dl>\n", file);
    write_fact(file, "file", subject->path);
    if (json_is_array(json_object_get(facts, "argv"))) {
        write_command(file, json_object_get(facts, "argv"));
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        write_fact(file, keys[i], sidecar_get(facts, keys[i]));
    }
    write_fact(file, "baseline", sidecar_get(subject->check, "baseline"));
    fputs("</dl>\n", file);
    if (facts == NULL) {
        fputs("<p>No sidecar lies beside the table: nothing is known of its run.</p>\n", file);
    }
}

int section_write(FILE *file, const Subject *subject, size_t number)
{
    char verdict[SECTION_VERDICT];
    int status = 0;
    section_verdict(verdict, subject);
    fprintf(file, "<section id=\"file-%zu\">\n<h2>", number + 1);
    section_text(file, subject->path);
    fprintf(file, "</h2>\n<p class=\"verdict %s\">", subject->passes ? "pass" : "fail");
    section_text(file, verdict);
    fputs("</p>\n", file);
    if (subject->kind == SUBJECT_SWEEP) {
        status = drawing_write(file, subject->path, number);
    }
    if (subject->kind == SUBJECT_CHECK) {
        write_findings(file, subject);
    } else if (status == 0) {
        status = write_rows(file, subject) != 0 ? 99 : 0;
        if (!subject->passes) {
            write_failed_points(file, subject);
        }
    }
    write_facts(file, subject);
    fputs("</section>\n", file);
    return status;
}
