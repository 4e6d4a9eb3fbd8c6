/*
 * Rows of a sweep, each point's from one shard, with the verdict that they have.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "merge.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/values.h"
#include "../../evaluate/verdict.h"
#include "../../point/axes.h"
#include "../../table/options_cell.h"
#include "../../table/table.h"

#include <stdlib.h>
#include <string.h>

/* The key of a line, as table_key has it, and the cells that it is from; NULL: it has none. */
static char *line_key(AxisCell columns[AXIS_COUNT], AxisCell *options, const char *line)
{
    if (options_of_line(columns, options, line) == NULL) {
        return NULL;
    }
    return need_copy_of(line, (size_t)(options->text + options->length - line));
}

/* A point with what judges a row.  False: the row has no such values. */
static bool read_judge(Point *point, const AxisCell *options, const AxisCell *columns)
{
    static const Axis axes[] = {AXIS_TOLERANCE, AXIS_JUDGE, AXIS_NORM};
    bool read = true;
    *point = (Point){0};
    for (size_t i = 0; i < sizeof axes / sizeof *axes && read; i++) {
        char text[VALUE_TEXT];
        ValueList list = {0};
        Message message;
        options_value(text, axes[i], options->text, options->length, columns);
        read =
            values_read(&list, &message, &axis_info(axes[i])->domain, text) == 0 && list.count == 1;
        if (read) {
            point_set(point, axes[i], list.values[0]);
        }
        values_clear(&list);
    }
    return read;
}

/* The length of the point's rows at text [size], layers 1 to depth; 0: they are not there. */
static size_t point_length(bool *passed, const char *text, size_t size, bool propagation)
{
    AxisCell columns[AXIS_COUNT], options;
    Point point;
    Row row;
    size_t used = 0, length = 1;
    char *key = line_key(columns, &options, text);
    if (key == NULL || !read_judge(&point, &options, columns)) {
        free(key);
        return 0;
    }
    size_t depth = strtoul(columns[AXIS_DEPTH].text, NULL, 10);
    row_init(&row, &point);
    for (size_t layer = 1; layer <= depth && length > 0; layer++) {
        length = table_read_row(&row, text + used, size - used, key, layer, propagation);
        *passed = *passed && row_passes(&point, &row);
        used += length;
    }
    row_clear(&row);
    free(key);
    return length > 0 ? used : 0;
}

/* Puts a shard's points where they belong in the grid. */
static int take_points(Merge *merge, const ShardFile *file)
{
    json_t *facts = json_object_get(file->sidecar, "points"), *fact;
    const char *next = file->text + merge->header_length, *end = file->text + file->size;
    size_t i;
    json_array_foreach(facts, i, fact)
    {
        json_int_t number = merge->shards > 1 ? json_integer_value(json_object_get(fact, "index"))
                                              : (json_int_t)i + 1;
        bool passed = true;
        size_t length =
            point_length(&passed, next, (size_t)(end - next), merge_has_propagation(merge));
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
        AxisCell columns[AXIS_COUNT], options;
        char *key = line_key(columns, &options, rows); /* point_length has found it */
        digest = digest_bytes(digest, key, strlen(key));
        digest = digest_bytes(digest, "\n", 1);
        free(key);
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
