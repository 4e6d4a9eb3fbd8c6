/*
 * A point's rows as text, and what is read back from it.
 */
#include <stdio.h>

#include "rows.h"

#include "verdict.h"

#include "../../memory/need.h"
#include "../base/progress.h"
#include "../base/text_stream.h"
#include "../table/columns.h"
#include "../table/table.h"

#include <stdlib.h>
#include <string.h>

static void outcome_add(PointOutcome *outcome, const Point *point, const Row *row)
{
    summary_add(&outcome->summary, point, row);
    outcome->bounds += bounds_write(NULL, point, row);
    if (outcome->failed_layer == 0 && !row_passes(point, row)) {
        outcome->failed_layer = row->layer;
        outcome->failed_status = row->status;
    }
}

bool rows_evaluate(PointRows *rows, const Shared *shared, const Point *point)
{
    double start = clock_seconds();
    *rows = (PointRows){0};
    Row *evaluated = point_evaluate(shared, point, NULL, NULL);
    if (evaluated == NULL) {
        return false;
    }
    FILE *file = text_stream(&rows->text, &rows->length);
    for (size_t l = 0; l < point->spec.depth; l++) {
        outcome_add(&rows->outcome, point, &evaluated[l]);
        table_write_row(file, point, &evaluated[l]);
    }
    (void)text_close(file, &rows->text);
    point_rows_free(evaluated, point);
    rows->seconds = clock_seconds() - start;
    return true;
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
    *outcome = (PointOutcome){0};
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
