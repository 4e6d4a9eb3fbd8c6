/*
 * Rows of a sweep, each point's from one shard, with the verdict that they have.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "merge.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../point/axes.h"
#include "../../table/check_columns.h"
#include "../../table/columns.h"
#include "../../table/options_cell.h"

#include <stdlib.h>
#include <string.h>

/* A cell of a line, cut; "" where there is none. */
static void copy_cell(char *out, size_t size, const char *line, const char *column)
{
    const char *cell = merge_column(line, column_position(column));
    snprintf(out, size, "%.*s", cell == NULL ? 0 : (int)strcspn(cell, ",\n"),
             cell == NULL ? "" : cell);
}

/* A number, and within the tolerance. */
static bool is_within(const char *cell, const char *tolerance)
{
    char *end;
    mpfr_t value;
    mpfr_init2(value, 64);
    mpfr_strtofr(value, cell, &end, 10, MPFR_RNDN);
    bool within = *cell != '\0' && *end == '\0' && mpfr_number_p(value) &&
                  mpfr_cmp_d(value, strtod(tolerance, NULL)) <= 0;
    mpfr_clear(value);
    return within;
}

/* As the run that wrote the row judged it (row_passes). */
static bool row_passed(const char *line)
{
    char cell[64], judge[VALUE_TEXT], norm[VALUE_TEXT], tolerance[VALUE_TEXT];
    AxisCell columns[AXIS_COUNT], options;
    const char *status = merge_column(line, column_position(column_name(COLUMN_STATUS)));
    Status found = status == NULL ? STATUS_ERROR : status_find(status, strcspn(status, ",\n"));
    if (found > STATUS_OK || found <= STATUS_FAIL ||
        options_of_line(columns, &options, line) == NULL) {
        return false;
    }
    options_value(tolerance, AXIS_TOLERANCE, options.text, options.length, columns);
    options_value(judge, AXIS_JUDGE, options.text, options.length, columns);
    options_value(norm, AXIS_NORM, options.text, options.length, columns);
    if (strcmp(tolerance, axis_info(AXIS_TOLERANCE)->domain.words[0]) == 0) {
        return true;
    }
    const Column *column = column_of_words(judge, norm);
    copy_cell(cell, sizeof cell, line, column != NULL ? column->name : "");
    return found != STATUS_VACUOUS && is_within(cell, tolerance);
}

/* The length of the point's rows at text: layers 1 to depth; 0: they are not there. */
static size_t point_length(bool *passed, const char *text)
{
    size_t depth_column = column_position(axis_info(AXIS_DEPTH)->column);
    size_t layer_column = column_position(LAYER_COLUMN);
    const char *line = text, *depth_text = merge_column(text, depth_column);
    size_t depth = depth_text == NULL ? 0 : strtoul(depth_text, NULL, 10);
    for (size_t layer = 1; layer <= depth; layer++) {
        const char *cell = merge_column(line, layer_column), *newline = strchr(line, '\n');
        if (cell == NULL || newline == NULL || strtoul(cell, NULL, 10) != layer) {
            return 0;
        }
        *passed = *passed && row_passed(line);
        line = newline + 1;
    }
    return (size_t)(line - text);
}

/* Puts a shard's points where they belong in the grid. */
static int take_points(Merge *merge, const ShardFile *file)
{
    json_t *facts = json_object_get(file->sidecar, "points"), *fact;
    const char *next = file->text + merge->header_length, *end = file->text + file->size;
    size_t i;
    if (file->size < merge->header_length ||
        memcmp(file->text, merge->header, merge->header_length) != 0) {
        return merge_refuse_rows(file);
    }
    json_array_foreach(facts, i, fact)
    {
        json_int_t number = merge->shards > 1 ? json_integer_value(json_object_get(fact, "index"))
                                              : (json_int_t)i + 1;
        bool passed = true;
        size_t length = point_length(&passed, next);
        if (length == 0 || number < 1 || number > (json_int_t)merge->point_count ||
            merge->points[number - 1].rows != NULL) {
            return merge_refuse_rows(file);
        }
        if (passed != json_is_true(json_object_get(fact, "passed"))) {
            return merge_refuse_verdict(file, (size_t)number - 1);
        }
        merge->points[number - 1] = (MergedPoint){next, length, fact, passed};
        next += length;
    }
    return next == end ? 0 : merge_refuse_rows(file);
}

/* Adds the key of a line that has one, as table_key has it. */
static void digest_key(uint64_t *digest, const char *line)
{
    AxisCell columns[AXIS_COUNT], options = {0};
    (void)options_of_line(columns, &options, line); /* point_length has seen the layer behind it */
    *digest = digest_bytes(*digest, line, (size_t)(options.text + options.length - line));
    *digest = digest_bytes(*digest, "\n", 1);
}

/* All points are there, and their keys are the grid's. */
static int check_grid(const Merge *merge)
{
    uint64_t digest = DIGEST_START;
    char text[DIGEST_TEXT];
    for (size_t i = 0; i < merge->point_count; i++) {
        const char *rows = merge->points[i].rows;
        if (rows == NULL) {
            return merge_refuse_rows(&merge->files[0]);
        }
        digest_key(&digest, rows);
    }
    digest_print(text, identity_end(digest, merge_has_propagation(merge)));
    const json_t *grid = json_object_get(merge->files[0].sidecar, "grid");
    return strcmp(text, sidecar_get(grid, "digest")) == 0 ? 0 : merge_refuse_rows(&merge->files[0]);
}

int merge_points(Merge *merge, MergedPoint *points)
{
    int status = 0;
    merge->points = points;
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = take_points(merge, &merge->files[i]);
    }
    return status != 0 ? status : check_grid(merge);
}
