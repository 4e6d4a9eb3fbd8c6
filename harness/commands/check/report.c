/*
 * The findings of `check` as text: keys, commands that reproduce a row, the verdict.
 */
#include <stdio.h>

#include "report.h"

#include "../../base/shown.h"
#include "../../base/terminal.h"
#include "../../base/text_stream.h"
#include "../../point/axes.h"
#include "../../table/columns.h"
#include "../guarantee/bound.h"

#include <stdlib.h>
#include <string.h>

bool report_is_key(const char *column)
{
    return column_kind(column) == COLUMN_KEY || strcmp(column, "model") == 0;
}

/* Are there two cells that differ in that column of the tables, where it means something?  Blank
 * options are the defaults. */
static bool varies(const Check *check, const char *name)
{
    const Csv *const tables[] = {&check->obtained, &check->baseline};
    const char *first = NULL;
    bool defaults = strcmp(name, OPTIONS_COLUMN) == 0;
    for (size_t t = 0; t < 2; t++) {
        size_t column = csv_find(tables[t], name);
        for (size_t row = 0; column < tables[t]->columns && row < tables[t]->rows; row++) {
            const char *cell = csv_cell(tables[t], row, column);
            if (*cell != '\0' || defaults) {
                first = first == NULL ? cell : first;
                if (strcmp(cell, first) != 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* check: of whose tables the columns are that vary; NULL: all.  Returns how many were printed. */
static size_t print_key(FILE *file, const Check *check, const Finding *finding)
{
    size_t printed = 0;
    const Csv *table = finding->table;
    for (size_t i = 0; finding->row != NO_ROW && i < table->columns; i++) {
        const char *name = csv_name(table, i), *cell = csv_cell(table, finding->row, i);
        if (report_is_key(name) && *cell != '\0' && (check == NULL || varies(check, name))) {
            fprintf(file, "%s%s=%s", printed > 0 ? " " : "", name, cell);
            printed++;
        }
    }
    if (finding->row == NO_ROW) {
        fputs("the tables", file);
    }
    return printed;
}

/* The point that a row of a table came from, by its key alone. */
static void print_row_command(FILE *file, const Csv *csv, size_t row)
{
    fputs("headproof sweep", file);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const char *column = axis_info(axis)->column;
        const char *cell = column == NULL ? "" : csv_cell(csv, row, csv_find(csv, column));
        if (*cell != '\0') {
            fprintf(file, " --%s ", axis_info(axis)->name);
            shown_write(file, SHOWN_SHELL, cell);
        }
    }
    const char *option = csv_cell(csv, row, csv_find(csv, OPTIONS_COLUMN));
    while (*option != '\0') {
        size_t length = strcspn(option, ";");
        fputs(" --", file);
        shown_write_part(file, SHOWN_SHELL, option, length);
        option += length + (option[length] == ';');
    }
}

static void print_command(FILE *file, const Check *check, const Finding *finding)
{
    if (finding->command != NULL) {
        fputs(finding->command, file);
    } else if (finding->point != NULL && check->run->every_input) {
        bound_print_command(file, finding->point, check->run);
    } else if (finding->point != NULL) {
        point_print_command(file, finding->point);
    } else if (finding->row != NO_ROW && !check->run->every_input) {
        print_row_command(file, finding->table, finding->row);
    } else {
        fputs("headproof", file);
        for (int i = 1; i < check->run->argc; i++) {
            putc(' ', file);
            shown_write(file, SHOWN_SHELL, check->run->argv[i]);
        }
    }
}

char *report_key(const Check *check, const Finding *finding)
{
    char *text;
    size_t size;
    FILE *file = text_stream(&text, &size);
    if (print_key(file, check, finding) == 0 && finding->row != NO_ROW) {
        (void)print_key(file, NULL, finding);
    }
    return text_close(file, &text);
}

char *report_command(const Check *check, const Finding *finding)
{
    char *text;
    size_t size;
    FILE *file = text_stream(&text, &size);
    print_command(file, check, finding);
    return text_close(file, &text);
}

char *report_last_command(const Check *check, size_t i, size_t shown)
{
    char *command = report_command(check, &check->findings[i]);
    for (size_t later = i + 1; later < shown && command != NULL; later++) {
        char *other = report_command(check, &check->findings[later]);
        if (strcmp(command, other) == 0) {
            free(command);
            command = NULL;
        }
        free(other);
    }
    return command;
}

void report_verdict(char text[VERDICT_TEXT], const Check *check)
{
    Conclusion conclusion = check_conclude(check);
    const char *words = conclusions[conclusion].words;
    if (check->tells && conclusion != CONCLUSION_FAIL) {
        snprintf(text, VERDICT_TEXT, "%s: %zu case%s", words, check->rows,
                 check->rows == 1 ? "" : "s");
    } else if (check->tells) {
        snprintf(text, VERDICT_TEXT, "FAIL: %zu of %zu case%s", check->failed, check->rows,
                 check->rows == 1 ? "" : "s");
    } else if (conclusion == CONCLUSION_PASS && check->run->check.save != NULL) {
        size_t judged = 0;
        for (size_t i = 0; i < check->grid->count; i++) {
            const Point *point = &check->grid->points[i];
            judged += point->judged ? point->spec.depth : 0;
        }
        snprintf(text, VERDICT_TEXT, "PASS: %zu of %zu rows within a tolerance, nothing compared",
                 judged, check->rows);
    } else if (conclusion == CONCLUSION_PASS) {
        snprintf(text, VERDICT_TEXT, "PASS: %zu rows, %zu cells compared", check->rows,
                 check->cells);
    } else if (conclusion != CONCLUSION_FAIL) {
        snprintf(text, VERDICT_TEXT, "%s: %zu rows", words, check->rows);
    } else {
        snprintf(text, VERDICT_TEXT, "FAIL: %zu of %zu rows, %zu findings, %zu cells compared",
                 check->failed, check->rows, check->finding_count, check->cells);
    }
}

const char *report_prefix(bool bound)
{
    return bound ? "at most " : "";
}

static void print_cell(FILE *file, const char *before, bool bound, const char *cell)
{
    if (cell != NULL) {
        fprintf(file, "%s%s", before, report_prefix(bound));
        shown_write(file, SHOWN_TERMINAL, *cell == '\0' ? "blank" : cell);
    }
}

/* Prints a finding's sentence about its row. */
static void print_finding(FILE *file, const Finding *finding)
{
    fputs("    ", file);
    if (finding->column != NULL) {
        shown_write(file, SHOWN_TERMINAL, finding->column);
        fputs(": ", file);
    }
    fputs(finding->reason, file);
    print_cell(file, ": ", finding->obtained_bound, finding->obtained);
    print_cell(file, ", baseline ", finding->baseline_bound, finding->baseline);
    if (*finding->ratio != '\0') {
        fprintf(file, ", ratio %s", finding->ratio);
    }
    if (*finding->limit != '\0') {
        fprintf(file, ", limit %s", finding->limit);
    }
    putc('\n', file);
}

/* The first of them; a row's key once, and each command behind the last row that it is of. */
static void print_findings(FILE *file, const Check *check)
{
    size_t shown =
        check->finding_count < FINDINGS_SHOWN ? check->finding_count : (size_t)FINDINGS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const Finding *finding = &check->findings[i];
        char *key = report_key(check, finding), *command = report_last_command(check, i, shown);
        if (i == 0 || !finding_same_row(finding, finding - 1)) {
            fputs("  ", file);
            shown_write(file, SHOWN_TERMINAL, key);
            putc('\n', file);
        }
        print_finding(file, finding);
        if (command != NULL) {
            fprintf(file, "    reproduce: %s\n", command);
        }
        free(key);
        free(command);
    }
    if (shown < check->finding_count) {
        fprintf(file, "  and %zu more findings (--json FILE has them all)\n",
                check->finding_count - shown);
    }
}

void report_print(const Check *check)
{
    char verdict[VERDICT_TEXT];
    const RunOptions *run = check->run;
    for (size_t i = 0; i < check->mention_count && !run->quiet; i++) {
        fputs("note: ", stdout);
        shown_write(stdout, SHOWN_TERMINAL, check->mentions[i]);
        putchar('\n');
    }
    if (!run->quiet) {
        print_findings(stdout, check);
    }
    report_verdict(verdict, check);
    bool colors = terminal_has_colors(stdout, run->color);
    Color color = conclusions[check_conclude(check)].color;
    terminal_write(stdout, colors ? color : COLOR_NONE, verdict);
    putchar('\n');
}
