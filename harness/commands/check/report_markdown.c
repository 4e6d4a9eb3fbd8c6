/*
 * Markdown of a check: the verdict, the worst rows, and how to repeat them, for a pull request.
 */
#include <stdio.h>

#include "report.h"

#include "../../base/shown.h"

#include <stdlib.h>

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
            return report_memory();
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
    return report_status(file);
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
    return status != 0 ? status : report_status(file);
}
