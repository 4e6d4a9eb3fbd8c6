/*
 * A point's rows as text, and what is read back from it.
 */
#include <stdio.h>

#include "rows.h"

#include "verdict.h"

#include "../../memory/need.h"
#include "../base/progress.h"
#include "../base/text_stream.h"
#include "../table/bounds.h"
#include "../table/table.h"

#include <stdlib.h>
#include <string.h>

/* A point's rows on their way into text. */
typedef struct {
    FILE *file;
    PointOutcome *outcome;
} RowFile;

static void outcome_init(PointOutcome *outcome)
{
    *outcome = (PointOutcome){0};
    summary_init(&outcome->summary);
}

static void outcome_add(PointOutcome *outcome, const Point *point, const Row *row)
{
    summary_add(&outcome->summary, point, row);
    outcome->bounds += bounds_write(NULL, point, row);
    if (outcome->failed_layer == 0 && !row_passes(point, row)) {
        outcome->failed_layer = row->layer;
        outcome->failed_status = row->status;
    }
}

static void take_row(void *context, const Point *point, const Row *row)
{
    RowFile *rows = context;
    outcome_add(rows->outcome, point, row);
    table_write_row(rows->file, point, row);
}

bool rows_evaluate(PointRows *rows, const Shared *shared, const Point *point)
{
    bool passed;
    double start = clock_seconds();
    *rows = (PointRows){0};
    outcome_init(&rows->outcome);
    RowFile taken = {.file = text_stream(&rows->text, &rows->length), .outcome = &rows->outcome};
    bool ok = point_evaluate(&passed, shared, point, &(PointSink){take_row, NULL, &taken});
    (void)text_close(taken.file, &rows->text);
    rows->seconds = clock_seconds() - start;
    if (!ok) {
        rows_clear(rows);
    }
    return ok;
}

void rows_clear(PointRows *rows)
{
    free(rows->text);
    *rows = (PointRows){0};
}

size_t rows_read(PointOutcome *outcome, const char *text, size_t size, const Point *point)
{
    char *key = table_key(point);
    size_t used = 0, length = 1;
    Row row;
    outcome_init(outcome);
    row_init(&row, point);
    for (size_t layer = 1; layer <= point->spec.depth && length > 0; layer++) {
        length = table_read_row(&row, text + used, size - used, key, layer, point->propagation);
        used += length;
        if (length == 0) {
            break;
        }
        outcome_add(outcome, point, &row);
    }
    row_clear(&row);
    free(key);
    return length > 0 ? used : 0;
}
