/*
 * Series of a table: rows that belong together, and their medians.
 */
#include "series.h"

#include "../../../memory/need.h"
#include "../../base/message.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT(axis) ((uint64_t)1 << (axis))
static_assert(MEASURE_AXES <= 64, "a set of axes is a uint64_t");

const size_t series_axes[SERIES_AXES] = {AXIS_OMEGA, AXIS_N, AXIS_D, AXIS_DEPTH, MEASURE_LAYER};

const char *series_text(const Series *series, size_t axis)
{
    return measures_text(series->data, series->rows[0].row, axis);
}

void series_place(double *x, const Series *series, size_t row)
{
    for (size_t k = 0; k < series->terms; k++) {
        x[k] = strtod(measures_text(series->data, row, series->axes[k]), NULL);
    }
}

bool series_differs(const Series *series, size_t axis)
{
    bool follows = axis == AXIS_D_FF && series->data->axes[axis].filled > 1;
    return (series->free_axes & BIT(follows ? AXIS_D : axis)) != 0;
}

/* Is the row part of a series along the axis?  Of a stack of layers only the last row is, but
 * along the layers. */
static bool takes(const Measures *data, size_t row, size_t axis)
{
    bool last =
        axis == MEASURE_LAYER || data->searched || measures_is_blank(data, row, AXIS_DEPTH) ||
        strcmp(measures_text(data, row, MEASURE_LAYER), measures_text(data, row, AXIS_DEPTH)) == 0;
    return last && data->axes[axis].numeric && !measures_is_blank(data, row, axis);
}

/* A row's value along an axis, by which rows are put into series; where a network's width grows
 * with the stream's it counts in those. */
static double find_key(const SeriesRow *row, size_t axis)
{
    const Measures *data = row->of->data;
    const char *text = measures_text(data, row->row, axis),
               *d = measures_text(data, row->row, AXIS_D);
    bool follows = series_differs(row->of, axis) && *text != '\0';
    return (row->of->free_axes & BIT(axis)) != 0 ? 0
           : follows                             ? strtod(text, NULL) / strtod(d, NULL)
                                                 : (double)data->values[row->row][axis];
}

static int compare_keys(const SeriesRow *a, const SeriesRow *b)
{
    double x = 0, y = 0;
    for (size_t axis = 0; axis < MEASURE_AXES && x == y; axis++) {
        x = find_key(a, axis);
        y = find_key(b, axis);
    }
    return (x > y) - (x < y);
}

bool series_has(const Series *series, size_t row)
{
    return compare_keys(&(SeriesRow){series, row}, &(SeriesRow){series, series->rows[0].row}) == 0;
}

/* By their sizes on the axes. */
static int compare_sizes(const SeriesRow *a, const SeriesRow *b)
{
    size_t x = 0, y = 0;
    for (size_t k = 0; k < a->of->terms && x == y; k++) {
        x = a->of->data->values[a->row][a->of->axes[k]];
        y = a->of->data->values[b->row][a->of->axes[k]];
    }
    return (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b)
{
    const SeriesRow *x = a, *y = b;
    int order = compare_keys(x, y);
    order = order != 0 ? order : (x->row >= x->of->fitted_rows) - (y->row >= x->of->fitted_rows);
    order = order != 0 ? order : compare_sizes(x, y);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

/* The median of the cells of the rows [count], which share a point; room: for numbers.
 * A 0 and a bound are below any value: where no bound is above the median, they cannot move it. */
static GrowthPoint make_point(const Series *series, const SeriesRow *rows, size_t count,
                              double *room)
{
    double *limits = room, *lowest = room + count, mean = 0, squares = 0;
    double bound = -INFINITY, least = INFINITY, most = -INFINITY;
    GrowthPoint point = {.row = rows[0].row, .y = {[MEDIAN] = INFINITY}};
    series_place(point.x, series, point.row);
    for (size_t i = 0; i < count; i++) {
        Measure cell = series->data->cells[rows[i].row][series->kind];
        double value = series->data->searched ? pow(10, cell.log10) : cell.log10;
        double from = value - mean;
        bool says = !isnan(value) && !series->data->silent[rows[i].row];
        if (says) {
            limits[point.seeds] = value;
            lowest[point.seeds++] = cell.bound ? -INFINITY : value;
            bound = cell.bound ? fmax(bound, value) : bound;
        }
        if (says && isfinite(value) && !cell.bound) {
            mean += from / (double)++point.values;
            squares += from * (value - mean);
            least = fmin(least, value);
            most = fmax(most, value);
        }
    }
    if (point.seeds > 0) {
        double median = fit_median(lowest, point.seeds);
        point.known = isfinite(median) && bound <= median;
        point.y[MEDIAN] = point.known ? median : fit_median(limits, point.seeds);
    }
    point.y[BELOW] = point.known ? point.y[MEDIAN] - least : 0;
    point.y[ABOVE] = point.known ? most - point.y[MEDIAN] : 0;
    point.variance = point.values > 1 ? squares / (double)(point.values - 1) : 0;
    return point;
}

/* Its points of one kind, each of the rows of one size.  false: nothing is known of two or more. */
static bool make_points(Series *series, size_t kind, double *room)
{
    size_t said = 0;
    series->kind = kind;
    series->count = 0;
    series->censored = series->fitted;
    for (size_t first = 0, next = 0; first < series->fitted; first = next) {
        const SeriesRow *rows = &series->rows[first];
        while (next < series->fitted && compare_sizes(rows, &series->rows[next]) == 0) {
            next++;
        }
        GrowthPoint *point = &series->points[series->count++];
        *point = make_point(series, rows, next - first, room);
        series->censored -= point->values;
        said += point->seeds;
    }
    return series->count > 1 && (said > 0 || (series->data->searched && kind == SEARCH_MIN));
}

/* Everything of the rows of one key; of searches along the sizes that they differ in. */
static int take_kinds(Series own, double *room, TakeSeries *take, void *context)
{
    const bool searched = own.data->searched;
    size_t(*values)[MEASURE_AXES] = own.data->values, terms = 0;
    int status = 0;
    for (size_t k = 0; k < own.terms; k++) {
        const size_t axis = own.axes[k];
        bool varies = !searched;
        for (size_t i = 1; i < own.fitted && !varies; i++) {
            varies = values[own.rows[i].row][axis] != values[own.rows[0].row][axis];
        }
        own.axes[terms] = axis;
        terms += varies;
        own.free_axes &= varies ? own.free_axes : ~BIT(axis);
    }
    own.terms = terms;
    own.first = true;
    for (size_t kind = 0; kind < ERROR_KINDS && status == 0; kind++) {
        bool wanted = !searched || kind == SEARCH_MIN || kind == SEARCH_PROVEN;
        wanted = wanted && make_points(&own, kind, room);
        status = wanted ? take(context, &own) : 0;
        own.first &= !wanted;
    }
    return status;
}

int series_each(const Measures *data, size_t fitted, size_t axis, TakeSeries *take, void *context)
{
    axis = data->searched ? AXIS_N : axis;
    Series series = {data, {axis, AXIS_D, AXIS_DEPTH}, .fitted_rows = fitted};
    series.terms = data->searched ? FIT_MOST : 1;
    series.free_axes = data->searched ? BIT(AXIS_N) | BIT(AXIS_D) | BIT(AXIS_DEPTH)
                                      : BIT(AXIS_TOLERANCE) | BIT(AXIS_JUDGE) | BIT(AXIS_NORM);
    series.free_axes |=
        BIT(axis) | BIT(AXIS_SEED) | BIT(AXIS_INPUT) | BIT(MEASURE_FILE) | BIT(MEASURE_LAYER);
    SeriesRow *rows = need_zeros(data->rows + 1, sizeof *rows);
    double *room = need_zeros(data->rows + 1, 2 * sizeof *room);
    series.points = need_zeros(data->rows + 1, sizeof *series.points);
    int status = 0;
    size_t count = 0;
    for (size_t row = 0; row < data->rows && status == 0; row++) {
        rows[count] = (SeriesRow){&series, row};
        count += takes(data, row, axis);
    }
    if (status == 0) {
        qsort(rows, count, sizeof *rows, compare_rows);
    }
    for (size_t first = 0, next = 0; first < count && status == 0; first = next) {
        series.rows = &rows[first];
        series.fitted = series.held = 0;
        for (; next < count && compare_keys(&rows[next], &rows[first]) == 0; next++) {
            *(rows[next].row < fitted ? &series.fitted : &series.held) += 1;
        }
        status = series.fitted > 0 ? take_kinds(series, room, take, context) : 0;
    }
    free(rows);
    free(room);
    free(series.points);
    return status;
}
