/*
 * JUnit's XML of a check: a test case a row, for whatever shows test results.
 */
#include <stdio.h>

#include "report.h"

#include "../../../memory/need.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <stdlib.h>

static void write_escaped(FILE *file, const char *text)
{
    shown_write(file, SHOWN_XML, text);
}

/* <failure message="column: reason: obtained, baseline ...">the command</failure> */
static void write_failure(FILE *file, const Check *check, const Finding *finding)
{
    char *command = report_command(check, finding);
    fputs("      <failure message=\"", file);
    if (finding->column != NULL) {
        write_escaped(file, finding->column);
        fputs(": ", file);
    }
    write_escaped(file, finding->reason);
    if (finding->obtained != NULL) {
        fprintf(file, "; obtained %s", report_prefix(finding->obtained_bound));
        write_escaped(file, finding->obtained);
    }
    if (finding->baseline != NULL) {
        fprintf(file, ", baseline %s", report_prefix(finding->baseline_bound));
        write_escaped(file, finding->baseline);
    }
    if (*finding->limit != '\0') {
        fprintf(file, ", limit %s", finding->limit);
    }
    fputs("\">", file);
    write_escaped(file, command);
    fputs("</failure>\n", file);
    free(command);
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

/* Writes the cells of the row that are no key: "error 8.1e-4, status fail". */
static void write_told(FILE *file, const Csv *table, size_t row)
{
    const char *separator = "";
    fputs("      <system-out>", file);
    for (size_t i = 0; i < table->columns; i++) {
        const char *cell = csv_cell(table, row, i);
        if (!report_is_key(csv_name(table, i)) && *cell != '\0') {
            fprintf(file, "%s%s ", separator, csv_name(table, i));
            write_escaped(file, cell);
            separator = ", ";
        }
    }
    fputs("</system-out>\n", file);
}

/* Nothing was judged: for JUnit, whose cases have no other word for it, they were skipped. */
static bool is_skipped(Conclusion conclusion)
{
    return conclusion != CONCLUSION_FAIL && conclusion != CONCLUSION_PASS;
}

/* place: the row that the findings [count] are about. */
static void write_case(FILE *file, const Check *check, const Finding *place,
                       const Finding *const *findings, size_t count)
{
    char *key = report_key(NULL, place);
    Conclusion conclusion = check_conclude(check);
    bool tells = check->tells && place->row != NO_ROW, skipped = is_skipped(conclusion);
    bool holds = count > 0 || tells || skipped;
    bool timed = place->table == &check->obtained && check->seconds != NULL;
    fprintf(file, "    <testcase classname=\"headproof.%s\" name=\"", check->command);
    write_escaped(file, key);
    fprintf(file, "\" time=\"%.6f\"%s>\n", timed ? check->seconds[place->row] : 0,
            holds ? "" : "/");
    for (size_t i = 0; i < count; i++) {
        write_failure(file, check, findings[i]);
    }
    if (skipped) {
        fprintf(file, "      <skipped message=\"%s\"/>\n", conclusions[conclusion].words);
    }
    if (tells) {
        write_told(file, place->table, place->row);
    }
    if (holds) {
        fputs("    </testcase>\n", file);
    }
    free(key);
}

/* Every obtained row, and every other place that has findings; *cases and *failed count them. */
static void write_cases(FILE *file, const Check *check, const Finding *const *findings,
                        size_t *cases, size_t *failed)
{
    const size_t rows = check->obtained.rows;
    *cases = *failed = 0;
    for (size_t next = 0, end; *cases < rows || next < check->finding_count; next = end) {
        const Finding row = {.table = &check->obtained, .row = *cases};
        const Finding *place = *cases < rows ? &row : findings[next];
        end = next;
        while (end < check->finding_count && finding_same_row(findings[end], place)) {
            end++;
        }
        write_case(file, check, place, findings + next, end - next);
        ++*cases;
        *failed += end > next;
    }
}

void report_xml(FILE *file, const Check *check)
{
    size_t cases, failed, length, count = check->finding_count;
    const Finding **findings = need_zeros(count > 0 ? count : 1, sizeof *findings);
    char verdict[VERDICT_TEXT], *text;
    double seconds = 0;
    for (size_t i = 0; i < count; i++) {
        findings[i] = &check->findings[i];
    }
    qsort(findings, count, sizeof *findings, compare_places);
    FILE *body = text_stream(&text, &length);
    write_cases(body, check, findings, &cases, &failed);
    for (size_t row = 0; row < check->obtained.rows && check->seconds != NULL; row++) {
        seconds += check->seconds[row];
    }
    report_verdict(verdict, check);
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n  <testsuite name=\"headproof %s\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"0\" skipped=\"%zu\" time=\"%.6f\">\n%s    <system-out>",
            check->command, cases, failed, is_skipped(check_conclude(check)) ? cases : 0, seconds,
            text_close(body, &text));
    for (size_t i = 0; i < check->mention_count; i++) {
        write_escaped(file, check->mentions[i]);
        putc('\n', file);
    }
    fprintf(file, "%s</system-out>\n  </testsuite>\n</testsuites>\n", verdict);
    free(text);
    free(findings);
}
