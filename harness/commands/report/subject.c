/*
 * One file that a report is about.
 */
#include "subject.h"

#include "../../base/message.h"
#include "../../table/columns.h"
#include "../../table/measures.h"
#include "../../table/options_cell.h"
#include "../../table/sidecar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *subject_status(const Subject *subject, size_t row)
{
    size_t column = csv_find(&subject->csv, column_name(COLUMN_STATUS));
    return column < subject->csv.columns ? csv_cell(&subject->csv, row, column) : "";
}

bool subject_row_fails(const Subject *subject, size_t row)
{
    const char *status = subject_status(subject, row);
    return strcmp(status, status_name(STATUS_OK)) != 0 &&
           strcmp(status, status_name(STATUS_UNRESOLVED)) != 0;
}

/* Does the file begin as JSON does?  false too where it cannot be read. */
static bool is_json(const char *path)
{
    FILE *file = fopen(path, "r");
    int first = file == NULL ? EOF : getc(file);
    if (file != NULL) {
        (void)fclose(file); /* it was only read */
    }
    return first == '{';
}

static int refuse(const char *path)
{
    return complain(
        (Origin){0}, path,
        "expected a table of sweep, depth, min-omega or verify, or what check --json wrote");
}

static int read_check(Subject *subject)
{
    const char *verdict;
    subject->kind = SUBJECT_CHECK;
    subject->check = json_load_file(subject->path, 0, NULL);
    verdict = json_string_value(json_object_get(subject->check, "verdict"));
    if (verdict == NULL || !json_is_array(json_object_get(subject->check, "findings"))) {
        return refuse(subject->path);
    }
    json_int_t failed = json_integer_value(json_object_get(subject->check, "rows_failed"));
    subject->points = json_array_size(json_object_get(subject->check, "findings"));
    subject->failed = failed > 0 ? (size_t)failed : 0;
    while (subject->conclusion < CONCLUSIONS &&
           strcmp(verdict, conclusion_name(subject->conclusion)) != 0) {
        subject->conclusion++;
    }
    if (subject->conclusion == CONCLUSIONS) {
        return refuse(subject->path);
    }
    subject->conclusion = subject->points > 0 ? CONCLUSION_FAIL : subject->conclusion;
    return 0;
}

/* The sidecar, where there is one; it must be of these very bytes. */
static int read_sidecar(Subject *subject)
{
    int status = sidecar_beside(&subject->sidecar, subject->path);
    if (status != 0) {
        return status;
    }
    subject->proven = sidecar_has_digest(subject->sidecar, subject->csv.digest);
    if (*sidecar_get(subject->sidecar, "digest") != '\0' && !subject->proven) {
        return complain_of(subject->path, NULL, NULL,
                           "its rows are not those that its .json names");
    }
    return 0;
}

/* Does a tolerance judge the row?  It has a column of its own in tables of min-omega. */
static bool is_judged(const Csv *csv, size_t row)
{
    size_t options = csv_find(csv, OPTIONS_COLUMN), own = csv_find(csv, "tolerance");
    const char *cell = options < csv->columns ? csv_cell(csv, row, options) : "";
    return own < csv->columns || options_judge(cell, strlen(cell));
}

/* A point fails where a sidecar says so that is of these rows; without its word, a row does by its
 * status. */
static void judge(Subject *subject)
{
    const json_t *points = subject->proven ? json_object_get(subject->sidecar, "points") : NULL;
    const json_t *point;
    size_t index;
    bool said = false;
    json_array_foreach(points, index, point)
    {
        const json_t *passed = json_object_get(point, "passed");
        said = said || json_is_boolean(passed);
        subject->failed += json_is_false(passed);
    }
    subject->points = json_array_size(points);
    for (size_t row = 0; row < subject->csv.rows; row++) {
        subject->failed += !said && subject_row_fails(subject, row);
        subject->judged += is_judged(&subject->csv, row);
    }
    subject->conclusion = subject->failed > 0                      ? CONCLUSION_FAIL
                          : subject->judged > 0 && subject->proven ? CONCLUSION_PASS
                                                                   : CONCLUSION_EVALUATED;
}

static int read_table(Subject *subject)
{
    int status = csv_read(&subject->csv, subject->path);
    if (status != 0) {
        return status;
    }
    const Csv *csv = &subject->csv;
    const char *error = column_of_error(ERROR_CONSTRUCTION, NORM_MAX)->name;
    bool sweep = strcmp(csv_name(csv, 0), "construction") == 0 &&
                 csv_find(csv, LAYER_COLUMN) < csv->columns && csv_find(csv, error) < csv->columns;
    bool other =
        csv_find(csv, "omega_min") < csv->columns || csv_find(csv, "judged_log2") < csv->columns;
    if ((!sweep && !other) || csv->rows == 0 ||
        csv_find(csv, column_name(COLUMN_STATUS)) == csv->columns) {
        return refuse(subject->path);
    }
    subject->kind = sweep ? SUBJECT_SWEEP : SUBJECT_TABLE;
    subject->drawn = sweep || searched_any(csv);
    status = read_sidecar(subject);
    judge(subject);
    return status;
}

int subject_read(Subject *subject, const char *path)
{
    subject->path = path;
    return is_json(path) ? read_check(subject) : read_table(subject);
}

void subject_clear(Subject *subject)
{
    csv_clear(&subject->csv);
    json_decref(subject->sidecar);
    json_decref(subject->check);
    *subject = (Subject){0};
}
