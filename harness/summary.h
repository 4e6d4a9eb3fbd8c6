/*
 * The short table after a sweep: the error at a few layers, a line per construction and Omega
 * (the worst over every other axis).
 */
#ifndef HEADPROOF_HARNESS_SUMMARY_H
#define HEADPROOF_HARNESS_SUMMARY_H

#include "grid.h"

enum { SUMMARY_LAYERS = 3 };

/* What one point leaves: the largest total error (or, without an arithmetic, construction
 * error) after layers 1, 12 and the last, in base-10 logarithms; NAN where absent. */
typedef struct {
    double log10_total[SUMMARY_LAYERS], log10_construction[SUMMARY_LAYERS];
    double log10_native[SUMMARY_LAYERS];
} PointSummary;

void summary_init(PointSummary *summary);

/* Takes in a row of the point. */
void summary_add(PointSummary *summary, const Point *point, const Row *row);

/* Prints the table of the grid's points of indices points [count]; summaries [count].  0, or -1
 * when out of memory or the stream failed. */
int summary_print(FILE *file, const Grid *grid, const size_t *points, size_t count,
                  const PointSummary *summaries) __attribute__((warn_unused_result));

#endif
