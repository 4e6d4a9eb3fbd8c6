#include "merge.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

/* The columns before `layer`, and among them that of `depth`, from 0. */
enum { KEY_COLUMNS = 16, DEPTH_COLUMN = 8 };

/* The length of the point's rows at text: layers 1 to depth; 0: they are not there. */
static size_t point_length(const char *text)
{
    const char *line = text, *depth_text = merge_column(text, DEPTH_COLUMN);
    size_t depth = depth_text == NULL ? 0 : strtoul(depth_text, NULL, 10);
    for (size_t layer = 1; layer <= depth; layer++) {
        const char *cell = merge_column(line, KEY_COLUMNS), *newline = strchr(line, '\n');
        if (cell == NULL || newline == NULL || strtoul(cell, NULL, 10) != layer) {
            return 0;
        }
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
        size_t length = point_length(next);
        if (length == 0 || number < 1 || number > (json_int_t)merge->point_count ||
            merge->points[number - 1].rows != NULL) {
            return merge_refuse_rows(file);
        }
        merge->points[number - 1] = (MergedPoint){next, length, fact};
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
        digest = digest_bytes(digest, rows, (size_t)(merge_column(rows, KEY_COLUMNS) - rows) - 1);
        digest = digest_bytes(digest, "\n", 1);
    }
    digest_print(text, digest);
    const json_t *grid = json_object_get(merge->files[0].sidecar, "grid");
    return strcmp(text, sidecar_get(grid, "digest")) == 0 ? 0 : merge_refuse_rows(&merge->files[0]);
}

int merge_points(Merge *merge, MergedPoint *points)
{
    int status = points == NULL ? memory_fault() : 0;
    merge->points = points;
    for (size_t i = 0; i < merge->file_count && status == 0; i++) {
        status = take_points(merge, &merge->files[i]);
    }
    return status != 0 ? status : check_grid(merge);
}
