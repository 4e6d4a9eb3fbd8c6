/*
 * Series of a table: rows that belong together, and their medians.
 */
#include "series.h"

#include "fit.h"

#include "../../base/message.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT(axis) ((uint64_t)1 << (axis))
static_assert(PLOT_AXES <= 64, "a set of axes is a uint64_t");

uint64_t series_free_axes(const PlotData *data, size_t axis)
{
    uint64_t judged = BIT(AXIS_TOLERANCE) | BIT(AXIS_JUDGE) | BIT(AXIS_NORM);
    uint64_t sizes = BIT(AXIS_N) | BIT(AXIS_D) | BIT(AXIS_DEPTH);
    return BIT(axis) | BIT(AXIS_SEED) | BIT(AXIS_INPUT) | BIT(PLOT_FILE) | BIT(PLOT_LAYER) |
           (data->searched ? sizes : judged);
}

double series_number(const PlotData *data, size_t row, size_t axis)
{
    return strtod(plot_text(data, row, axis), NULL);
}

bool series_takes(const PlotData *data, size_t row, size_t axis)
{
    bool last = axis == PLOT_LAYER || data->searched || plot_is_blank(data, row, AXIS_DEPTH) ||
                strcmp(plot_text(data, row, PLOT_LAYER), plot_text(data, row, AXIS_DEPTH)) == 0;
    return last && data->axes[axis].numeric && !plot_is_blank(data, row, axis);
}

/* A network is as wide as the stream is, so many times. */
static int compare_shapes(const SeriesRow *a, const SeriesRow *b)
{
    double x = series_number(a->data, a->row, AXIS_D_FF) / series_number(a->data, a->row, AXIS_D);
    double y = series_number(b->data, b->row, AXIS_D_FF) / series_number(b->data, b->row, AXIS_D);
    return (x > y) - (x < y);
}

int series_compare_keys(const SeriesRow *a, const SeriesRow *b)
{
    const size_t *x = a->data->values[a->row], *y = b->data->values[b->row];
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        bool shaped = axis == AXIS_D_FF && (a->free_axes & BIT(AXIS_D)) != 0 &&
                      a->data->axes[axis].filled > 1 && !plot_is_blank(a->data, a->row, axis) &&
                      !plot_is_blank(b->data, b->row, axis);
        int order = shaped ? compare_shapes(a, b) : (x[axis] > y[axis]) - (x[axis] < y[axis]);
        if ((a->free_axes & BIT(axis)) == 0 && order != 0) {
            return order;
        }
    }
    return 0;
}

static int compare_placed(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    int order = series_compare_keys(&x->row, &y->row);
    order = order != 0 ? order : (x->place > y->place) - (x->place < y->place);
    return order != 0 ? order : (x->row.row > y->row.row) - (x->row.row < y->row.row);
}

/* What the cells of the rows [count], which share a point, say of their median; room: for numbers.
 * A 0 and a bound are below any value: where no bound is above the median, they cannot move it. */
static GrowthPoint make_point(const Placed *rows, size_t count, ErrorKind kind, double *room)
{
    const PlotData *data = rows[0].row.data;
    double bound = -INFINITY, *limits = room, *lowest = room + count, *values = lowest + count;
    GrowthPoint point = {.smallest = INFINITY, .largest = -INFINITY, .state = MEDIAN_UNKNOWN};
    for (size_t i = 0; i < count; i++) {
        PlotCell cell = data->cells[rows[i].row.row][kind];
        if (isnan(cell.log10) || data->silent[rows[i].row.row]) {
            continue;
        }
        bool is_value = isfinite(cell.log10) && !cell.bound;
        limits[point.seeds] = cell.log10;
        lowest[point.seeds++] = cell.bound ? -INFINITY : cell.log10;
        bound = cell.bound ? fmax(bound, cell.log10) : bound;
        if (is_value) {
            point.smallest = fmin(point.smallest, cell.log10);
            point.largest = fmax(point.largest, cell.log10);
            values[point.values++] = cell.log10;
        }
    }
    if (point.seeds > 0) {
        point.variance = fit_variance(values, point.values);
        point.median = fit_median(lowest, point.seeds);
        bool known = isfinite(point.median) && bound <= point.median;
        point.median = known ? point.median : fit_median(limits, point.seeds);
        point.state = known                      ? MEDIAN_VALUE
                      : point.median == INFINITY ? MEDIAN_INFINITE
                                                 : MEDIAN_AT_MOST;
    }
    return point;
}

/* One error of the rows [count] of one key; series->points, room: for as many, and three times as
 * many numbers.  false: it is none. */
static bool make_series(Series *series, const Placed *rows, size_t count, double *room)
{
    size_t known = 0;
    series->censored = count;
    for (size_t first = 0, next; first < count; first = next) {
        next = first;
        while (next < count && rows[next].place == rows[first].place) {
            next++;
        }
        GrowthPoint *point = &series->points[series->count++];
        *point = make_point(&rows[first], next - first, series->kind, room);
        point->x = series_number(series->data, rows[first].row.row, series->axis);
        known += point->state != MEDIAN_UNKNOWN;
        series->censored -= point->values;
    }
    return series->count > 1 && known > 0;
}

/* What is called for series, with all rows of a key. */
typedef struct {
    size_t axis;
    TakeSeries *take;
    void *context;
} Taking;

static int take_errors(void *context, const Placed *rows, size_t count)
{
    const Taking *taking = context;
    GrowthPoint *points = calloc(count + 1, sizeof *points);
    double *room = calloc(3 * count + 1, sizeof *room);
    int status = points == NULL || room == NULL ? memory_fault() : 0;
    for (ErrorKind kind = 0; kind < ERROR_KINDS && status == 0; kind++) {
        Series series = {rows[0].row.data, taking->axis, rows[0].row.row, kind, points, 0, 0};
        if (make_series(&series, rows, count, room)) {
            status = taking->take(taking->context, &series);
        }
    }
    free(points);
    free(room);
    return status;
}

int series_each(const PlotData *data, size_t rows, size_t axis, TakeSeries *take, void *context)
{
    Taking taking = {axis, take, context};
    return series_keys(data, rows, axis, take_errors, &taking);
}

int series_keys(const PlotData *data, size_t rows, size_t axis, TakeRows *take, void *context)
{
    Placed *placed = calloc(rows + 1, sizeof *placed);
    size_t count = 0;
    int status = placed == NULL ? memory_fault() : 0;
    for (size_t row = 0; row < rows && status == 0; row++) {
        if (series_takes(data, row, axis)) {
            SeriesRow of = {data, series_free_axes(data, axis), row};
            placed[count++] = (Placed){of, data->values[row][axis]};
        }
    }
    if (status == 0) {
        qsort(placed, count, sizeof *placed, compare_placed);
    }
    for (size_t first = 0, next; first < count && status == 0; first = next) {
        next = first;
        while (next < count && series_compare_keys(&placed[next].row, &placed[first].row) == 0) {
            next++;
        }
        status = take(context, &placed[first], next - first);
    }
    free(placed);
    return status;
}
