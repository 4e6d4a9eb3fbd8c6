/*
 * JSON of a check: everything, for programs.
 */
#include <stdio.h>

#include "report.h"

#include "../../base/info.h"
#include "../../table/sidecar.h"

#include <jansson.h>
#include <stdlib.h>

/* null for NULL. */
static json_t *text_value(const char *text)
{
    return text == NULL ? json_null() : sidecar_text(text);
}

/* The cells of a row by the names of their columns: all, or those of its key. */
static json_t *row_value(const Csv *table, size_t row, bool all)
{
    json_t *object = json_object();
    for (size_t i = 0; row != NO_ROW && i < table->columns; i++) {
        if (all || report_is_key(csv_name(table, i))) {
            json_object_set_new(object, csv_name(table, i), text_value(csv_cell(table, row, i)));
        }
    }
    return object;
}

static json_t *finding_value(const Check *check, const Finding *finding)
{
    char *command = report_command(check, finding), *row = report_key(check, finding);
    const char *ratio = *finding->ratio == '\0' ? NULL : finding->ratio;
    const char *limit = *finding->limit == '\0' ? NULL : finding->limit;
    json_t *value = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o}", "key",
        row_value(finding->table, finding->row, false), "row", text_value(row), "column",
        text_value(finding->column), "reason", text_value(finding->reason), "obtained",
        text_value(finding->obtained), "baseline", text_value(finding->baseline),
        "obtained_is_bound", finding->obtained_bound, "baseline_is_bound", finding->baseline_bound,
        "ratio", text_value(ratio), "limit", text_value(limit), "reproduce", text_value(command));
    free(command);
    free(row);
    return value;
}

void report_json(FILE *file, const Check *check)
{
    json_t *notes = json_array(), *findings = json_array(), *cases = json_array();
    Conclusion conclusion = check_conclude(check);
    size_t cells = conclusion == CONCLUSION_SAVED ? 0 : check->cells;
    for (size_t i = 0; i < check->mention_count; i++) {
        json_array_append_new(notes, text_value(check->mentions[i]));
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        json_array_append_new(findings, finding_value(check, &check->findings[i]));
    }
    for (size_t row = 0; check->tells && row < check->obtained.rows; row++) {
        json_array_append_new(cases, row_value(&check->obtained, row, true));
    }
    json_t *object = json_pack(
        "{s:i, s:o, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "schema", 1, "version",
        text_value(info_version()), "verdict", text_value(conclusions[conclusion].name), "baseline",
        text_value(check->run->check.baseline), "rows", (json_int_t)check->rows, "rows_failed",
        (json_int_t)check->failed, "cells", (json_int_t)cells, "command",
        text_value(check->command), "notes", notes, "findings", findings);
    if (check->tells) {
        json_object_set(object, "cases", cases);
    }
    (void)json_dumpf(object, file, JSON_INDENT(1)); /* the file tells */
    json_decref(cases);
    json_decref(object);
    putc('\n', file);
}
