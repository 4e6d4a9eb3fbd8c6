/*
 * What a point leaves for the short table after a sweep: its errors at a few layers.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SUMMARY_H
#define HEADPROOF_HARNESS_TABLE_SUMMARY_H

#include "stream_sizes.h"

#include "../grid/grid.h"

enum { SUMMARY_LAYERS = 3 };

/* A cell's base-10 logarithm, NAN where it is absent; bound: it is only an upper bound. */
typedef struct {
    double log10;
    bool bound;
} SummaryCell;

/* Errors after layers 1, 12 and the last. */
typedef struct {
    SummaryCell total[SUMMARY_LAYERS], construction[SUMMARY_LAYERS], native[SUMMARY_LAYERS];
} SummaryErrors;

/* A point's part in a summary: largest entries, errors relative to the result, and the sizes of the
 * stream after all layers, which say which of both are shown. */
typedef struct {
    SummaryErrors largest, relative;
    StreamSizes sizes;
} PointSummary;

/* The layers shown of a stack: 1, 12 and the last, as far as they differ.  Returns how many. */
int summary_layers(size_t layers[SUMMARY_LAYERS], size_t depth);

void summary_init(PointSummary *summary);

/* Takes in a row of the point. */
void summary_add(PointSummary *summary, const Point *point, const Row *row);

/* ", certified", or how many cells are bounds and not proven. */
int print_certified(FILE *file, size_t bounds);

#endif
