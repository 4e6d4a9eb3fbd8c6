/*
 * A point's rows as text, and what is read back from it.
 */
#include <stdio.h>

#include "rows.h"

#include "verdict.h"

#include "../base/progress.h"
#include "../base/text_stream.h"
#include "../table/bounds.h"
#include "../table/table.h"
#include "../table/table_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A point's rows on their way into text; shown NULL: no terminal. */
typedef struct {
    FILE *csv, *shown;
    PointOutcome *outcome;
} RowFiles;

static void outcome_init(PointOutcome *outcome)
{
    *outcome = (PointOutcome){0};
    summary_init(&outcome->summary);
}

static void outcome_add(PointOutcome *outcome, const Point *point, const Row *row)
{
    summary_add(&outcome->summary, point, row);
    outcome->bounds += bounds_count(point, row);
    if (outcome->failed_layer == 0 && !row_passes(point, row)) {
        outcome->failed_layer = row->layer;
        outcome->failed_status = row->status;
    }
}

/* Of a deep stack a terminal shows the first layers and every eighth. */
static bool shown_on_terminal(const Point *point, size_t layer)
{
    return point->spec.depth <= 24 || layer <= 4 || layer % 8 == 0 || layer == point->spec.depth;
}

static bool take_row(void *context, const Point *point, const Row *row)
{
    RowFiles *files = context;
    outcome_add(files->outcome, point, row);
    if (files->shown != NULL && shown_on_terminal(point, row->layer)) {
        table_print_row(files->shown, point, row);
    }
    return table_write_row(files->csv, point, row) == 0;
}

/* Appends b to a; both are text of a text_stream.  false: memory is short. */
static bool append(char **a, size_t a_length, const char *b, size_t b_length)
{
    char *both = realloc(*a, a_length + b_length + 1);
    if (both == NULL) {
        return false;
    }
    memcpy(both + a_length, b, b_length);
    both[a_length + b_length] = '\0';
    *a = both;
    return true;
}

EvaluateStatus rows_evaluate(PointRows *rows, const Shared *shared, const Point *point,
                             bool terminal)
{
    char *shown = NULL;
    bool passed;
    double start = clock_seconds();
    *rows = (PointRows){0};
    outcome_init(&rows->outcome);
    RowFiles files = {.csv = text_stream(&rows->text, &rows->csv), .outcome = &rows->outcome};
    if (terminal) {
        files.shown = text_stream(&shown, &rows->shown);
    }
    bool ok = files.csv != NULL && (!terminal || files.shown != NULL);
    if (ok) {
        ok = point_evaluate(&passed, shared, point, take_row, &files) == EVALUATE_OK;
    }
    ok = (files.csv == NULL || fclose(files.csv) == 0) && ok;
    ok = (files.shown == NULL || fclose(files.shown) == 0) && ok;
    if (ok && terminal) {
        ok = append(&rows->text, rows->csv, shown, rows->shown);
    }
    free(shown);
    rows->seconds = clock_seconds() - start;
    if (!ok) {
        rows_clear(rows);
    }
    return ok ? EVALUATE_OK : EVALUATE_NO_MEMORY;
}

void rows_clear(PointRows *rows)
{
    free(rows->text);
    *rows = (PointRows){0};
}

char *rows_copy(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    return copy != NULL ? memcpy(copy, text, size + 1) : NULL;
}

size_t rows_read(PointOutcome *outcome, const char *text, size_t size, const Point *point)
{
    char *key = table_key(point);
    size_t used = 0, length = key == NULL ? 0 : 1;
    Row row;
    errno = key == NULL ? ENOMEM : 0;
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
    int reason = errno;
    free(key);
    errno = reason;
    return length > 0 ? used : 0;
}
