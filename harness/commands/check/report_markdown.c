/*
 * Markdown of a check: the verdict, the worst rows, and how to repeat them, for a pull request.
 */
#include <stdio.h>

#include "report.h"

#include "../../base/shown.h"

#include <stdlib.h>

/* Cases of which a table is shown; the rest is counted. */
enum { ROWS_SHOWN = 40 };

/* Of a table, which goes on; bound: it is only that. */
static void write_cell(FILE *file, const char *text, bool bound)
{
    fprintf(file, "| %s", report_prefix(bound));
    shown_write(file, SHOWN_MARKDOWN, text != NULL ? text : "");
    putc(' ', file);
}

static void write_findings(FILE *file, const Check *check, size_t shown)
{
    fputs("\n| row | column | reason | obtained | baseline | ratio | limit |\n"
          "|---|---|---|---|---|---|---|\n",
          file);
    for (size_t i = 0; i < shown; i++) {
        const Finding *finding = &check->findings[i];
        char *key = report_key(check, finding);
        write_cell(file, key, false);
        write_cell(file, finding->column, false);
        write_cell(file, finding->reason, false);
        write_cell(file, finding->obtained, finding->obtained_bound);
        write_cell(file, finding->baseline, finding->baseline_bound);
        write_cell(file, finding->ratio, false);
        write_cell(file, finding->limit, false);
        fputs("|\n", file);
        free(key);
    }
    if (shown < check->finding_count) {
        fprintf(file, "\nand %zu more.\n", check->finding_count - shown);
    }
    fputs("\nTo reproduce them:\n\n```\n", file);
    for (size_t i = 0; i < shown; i++) {
        char *command = report_last_command(check, i, shown);
        if (command != NULL) {
            fprintf(file, "%s\n", command);
        }
        free(command);
    }
    fputs("```\n", file);
}

/* The first rows, with the columns that any of them fills. */
static void write_rows(FILE *file, const Csv *table)
{
    size_t shown = table->rows < ROWS_SHOWN ? table->rows : (size_t)ROWS_SHOWN;
    for (size_t line = 0; line < shown + 2; line++) {
        fputs(line == 0 ? "\n" : "", file);
        for (size_t i = 0; i < table->columns; i++) {
            bool filled = false;
            for (size_t row = 0; row < table->rows && !filled; row++) {
                filled = *csv_cell(table, row, i) != '\0';
            }
            if (filled && line == 1) {
                fputs("|---", file);
            } else if (filled) {
                write_cell(file, line == 0 ? csv_name(table, i) : csv_cell(table, line - 2, i),
                           false);
            }
        }
        fputs("|\n", file);
    }
    if (shown < table->rows) {
        fprintf(file, "\nand %zu more cases.\n", table->rows - shown);
    }
}

void report_markdown(FILE *file, const Check *check)
{
    size_t shown =
        check->finding_count < FINDINGS_SHOWN ? check->finding_count : (size_t)FINDINGS_SHOWN;
    char verdict[VERDICT_TEXT];
    report_verdict(verdict, check);
    fprintf(file, "### headproof %s: %s\n", check->command, verdict);
    if (check->mention_count > 0) {
        putc('\n', file);
    }
    for (size_t i = 0; i < check->mention_count; i++) {
        fputs("* ", file);
        shown_write(file, SHOWN_MARKDOWN, check->mentions[i]);
        putc('\n', file);
    }
    if (check->tells) {
        write_rows(file, &check->obtained);
    }
    if (shown > 0) {
        write_findings(file, check, shown);
    }
}
