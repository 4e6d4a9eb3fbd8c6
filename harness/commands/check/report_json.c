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

static json_t *key_value(const Finding *finding)
{
    json_t *key = json_object();
    const Csv *table = finding->table;
    for (size_t i = 0; finding->row != NO_ROW && i < table->columns; i++) {
        if (report_is_key(csv_name(table, i))) {
            json_object_set_new(key, csv_name(table, i),
                                text_value(csv_cell(table, finding->row, i)));
        }
    }
    return key;
}

static json_t *finding_value(const Check *check, const Finding *finding)
{
    json_t *object = json_object();
    char *command = report_command(check, finding), *row = report_key(check, finding);
    const char *ratio = *finding->ratio == '\0' ? NULL : finding->ratio;
    const char *limit = *finding->limit == '\0' ? NULL : finding->limit;
    json_object_set_new(object, "key", key_value(finding));
    json_object_set_new(object, "row", text_value(row));
    json_object_set_new(object, "column", text_value(finding->column));
    json_object_set_new(object, "reason", text_value(finding->reason));
    json_object_set_new(object, "obtained", text_value(finding->obtained));
    json_object_set_new(object, "baseline", text_value(finding->baseline));
    json_object_set_new(object, "obtained_is_bound", json_boolean(finding->obtained_bound));
    json_object_set_new(object, "baseline_is_bound", json_boolean(finding->baseline_bound));
    json_object_set_new(object, "ratio", text_value(ratio));
    json_object_set_new(object, "limit", text_value(limit));
    json_object_set_new(object, "reproduce", text_value(command));
    free(command);
    free(row);
    return object;
}

static json_t *findings_value(const Check *check)
{
    json_t *list = json_array();
    for (size_t i = 0; i < check->finding_count; i++) {
        json_array_append_new(list, finding_value(check, &check->findings[i]));
    }
    return list;
}

static json_t *mentions_value(const Check *check)
{
    json_t *list = json_array();
    for (size_t i = 0; i < check->mention_count; i++) {
        json_array_append_new(list, text_value(check->mentions[i]));
    }
    return list;
}

/* The whole rows. */
static json_t *cases_value(const Check *check)
{
    const Csv *table = &check->obtained;
    json_t *list = json_array();
    for (size_t row = 0; row < table->rows; row++) {
        json_t *object = json_object();
        for (size_t i = 0; i < table->columns; i++) {
            json_object_set_new(object, csv_name(table, i), text_value(csv_cell(table, row, i)));
        }
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *count_value(size_t count)
{
    return json_integer((json_int_t)count);
}

void report_json(FILE *file, const Check *check)
{
    json_t *object = json_object();
    Conclusion conclusion = check_conclude(check);
    json_object_set_new(object, "schema", json_integer(1));
    json_object_set_new(object, "version", text_value(info_version()));
    json_object_set_new(object, "verdict", text_value(conclusion_name(conclusion)));
    json_object_set_new(object, "baseline", text_value(check->options->baseline));
    json_object_set_new(object, "rows", count_value(check->rows));
    json_object_set_new(object, "rows_failed", count_value(check->failed));
    json_object_set_new(object, "cells",
                        count_value(conclusion == CONCLUSION_SAVED ? 0 : check->cells));
    json_object_set_new(object, "command", text_value(check->command));
    json_object_set_new(object, "notes", mentions_value(check));
    json_object_set_new(object, "findings", findings_value(check));
    if (check->tells) {
        json_object_set_new(object, "cases", cases_value(check));
    }
    (void)json_dumpf(object, file, JSON_INDENT(1)); /* the file tells */
    json_decref(object);
    putc('\n', file);
}
