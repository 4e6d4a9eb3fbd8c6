/*
 * The short table after a sweep: the error at a few layers, a line per construction and Omega
 * (the worst over every other axis).
 */
#ifndef HEADPROOF_HARNESS_TABLE_SUMMARY_H
#define HEADPROOF_HARNESS_TABLE_SUMMARY_H

#include "../grid/grid.h"

enum { SUMMARY_LAYERS = 3 };

/* A cell's base-10 logarithm, NAN where it is absent; bound: it is only an upper bound. */
typedef struct {
    double log10;
    bool bound;
} SummaryCell;

/* What one point leaves: the largest errors after layers 1, 12 and the last. */
typedef struct {
    SummaryCell total[SUMMARY_LAYERS], construction[SUMMARY_LAYERS], native[SUMMARY_LAYERS];
} PointSummary;

void summary_init(PointSummary *summary);

/* Takes in a row of the point. */
void summary_add(PointSummary *summary, const Point *point, const Row *row);

/* Prints the table of the grid's points of indices points [count]; summaries [count].  0, or -1
 * when out of memory or the stream failed. */
int summary_print(FILE *file, const Grid *grid, const size_t *points, size_t count,
                  const PointSummary *summaries) __attribute__((warn_unused_result));

/* ", certified", or how many cells are bounds and not proven. */
int print_certified(FILE *file, size_t bounds);

#endif
