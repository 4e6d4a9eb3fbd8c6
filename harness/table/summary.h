/*
 * What a point leaves for the short table after a sweep: its errors at a few layers.
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

/* The layers shown of a stack: 1, 12 and the last, as far as they differ.  Returns how many. */
int summary_layers(size_t layers[SUMMARY_LAYERS], size_t depth);

void summary_init(PointSummary *summary);

/* Takes in a row of the point. */
void summary_add(PointSummary *summary, const Point *point, const Row *row);

/* ", certified", or how many cells are bounds and not proven. */
int print_certified(FILE *file, size_t bounds);

#endif
