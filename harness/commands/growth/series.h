/*
 * Series of a table: an error along one axis, everything else being equal, over all seeds.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_SERIES_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_SERIES_H

#include "../plot/data.h"

#include <stdint.h>

/* What is known of the median over the seeds at a point. */
typedef enum {
    MEDIAN_VALUE,   /* it is a value, whatever cells are bounds */
    MEDIAN_AT_MOST, /* cells in the middle are bounds, or 0: it is at most that */
    MEDIAN_INFINITE,
    MEDIAN_UNKNOWN /* no row says anything */
} MedianState;

/* Logarithms to the base of ten.  median: -INFINITY of a proven 0; smallest, largest, variance: of
 * the values alone, so many of them; seeds: rows that say something, each a seed or an input. */
typedef struct {
    double x, median, smallest, largest, variance;
    size_t seeds, values;
    MedianState state;
} GrowthPoint;

/* row: one of its rows, which tells all but the axis; censored: its rows that are no value. */
typedef struct {
    const PlotData *data;
    size_t axis, row;
    ErrorKind kind;
    GrowthPoint *points; /* [count], x ascending */
    size_t count, censored;
} Series;

/* A row of a table, and the axes in which rows may differ that go together: bit a, axis a. */
typedef struct {
    const PlotData *data;
    uint64_t free_axes;
    size_t row;
} SeriesRow;

/* The axes that rows of one series along the axis differ in: itself, seeds, inputs, files, ...; of
 * searches N, D and depth, whatever the axis. */
uint64_t series_free_axes(const PlotData *data, size_t axis);

/* Is the row part of a series along the axis?  Of a stack of layers only the last row is, but
 * along the layers. */
bool series_takes(const PlotData *data, size_t row, size_t axis);

/* Do rows differ in an axis that is not free?  Below, at, above 0 as by the first such axis. */
int series_compare_keys(const SeriesRow *a, const SeriesRow *b);

/* The number that a row has on an axis. */
double series_number(const PlotData *data, size_t row, size_t axis);

/* Calls take for every key in the first `rows` rows that have a number on the axis, with all its
 * rows [count], by that number.  0; 99 after a message; or what take returned, which ends it. */
typedef struct {
    SeriesRow row;
    size_t place; /* of its value on the axis */
} Placed;
typedef int TakeRows(void *context, const Placed *rows, size_t count);
int series_keys(const PlotData *data, size_t rows, size_t axis, TakeRows *take, void *context)
    __attribute__((warn_unused_result));

/* Calls take for every series along the axis in the first `rows` rows that has two points or more.
 * Returns as that does. */
typedef int TakeSeries(void *context, const Series *series);
int series_each(const PlotData *data, size_t rows, size_t axis, TakeSeries *take, void *context)
    __attribute__((warn_unused_result));

#endif
