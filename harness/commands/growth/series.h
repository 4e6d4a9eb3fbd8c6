/*
 * Series of a table: an error along one axis over all seeds, or the Omega that searches found along
 * N, D and depth, everything else being equal.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_SERIES_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_SERIES_H

#include "../../table/measures.h"
#include "fit.h"

#include <stdint.h>

/* Along what errors grow. */
enum { SERIES_AXES = 5 };
extern const size_t series_axes[SERIES_AXES];

typedef struct Series Series;
typedef struct {
    const Series *of;
    size_t row; /* of the table */
} SeriesRow;

/* axes [terms]: along which it is.  free_axes: bit a, rows may differ in axis a.  rows: those that
 * are fitted, by their numbers on the axes, then `held` that are not.  kind: an ErrorKind, or the
 * place of what a search found (table/measures.h); first: of the kinds that its rows have.  points
 * [count], in the rows' order: of logarithms to the base of ten, of searches of Omega itself.
 * censored: rows that are no value. */
struct Series {
    const Measures *data;
    size_t axes[FIT_MOST], terms, fitted_rows;
    uint64_t free_axes;
    const SeriesRow *rows;
    bool first;
    size_t fitted, held, kind, count, censored;
    GrowthPoint *points;
};

/* May its rows differ in the axis?  A network's width, too, where it follows D. */
bool series_differs(const Series *series, size_t axis);

/* Does a row that is held have the key, and a search the sizes that all that are fitted have? */
bool series_has(const Series *series, size_t row);

/* x [terms] = the numbers that a row has on its axes. */
void series_place(double *x, const Series *series, size_t row);

/* The value of an axis that all its rows share, if they do. */
const char *series_text(const Series *series, size_t axis);

/* Calls take for every series along the axis in the first `fitted` rows that has two points or
 * more, with the other rows that belong to it; of searches for every one along N, D and depth,
 * whatever the axis.  0; 99 after a message; or what take returned, which ends it. */
typedef int TakeSeries(void *context, const Series *series);
int series_each(const Measures *data, size_t fitted, size_t axis, TakeSeries *take, void *context)
    __attribute__((warn_unused_result));

#endif
