/*
 * The short table after a sweep, and a point's part of it: its errors at a few layers.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SUMMARY_H
#define HEADPROOF_HARNESS_TABLE_SUMMARY_H

#include "../../reference/reference.h"
#include "../grid/grid.h"
#include "eyes.h"

#include <stdbool.h>

/* The errors shown are the first of errors_by_use (eyes.h). */
enum { SUMMARY_LAYERS = 3, SUMMARY_ERRORS = 3 };

/* A cell's base-10 logarithm, NAN where it is absent; bound: it is only an upper bound. */
typedef struct {
    double log10;
    bool bound;
} SummaryCell;

/* Errors after layers 1, 12 and the last. */
typedef struct {
    SummaryCell of[SUMMARY_ERRORS][SUMMARY_LAYERS];
} SummaryErrors;

/* A point's part in a summary: largest entries, errors relative to the result, and the sizes of the
 * stream after all layers, which say which of both are shown. */
typedef struct {
    SummaryErrors largest, relative;
    StreamSizes sizes;
} PointSummary;

/* The layers shown of a stack: 1, 12 and the last, as far as they differ.  Returns how many. */
int summary_layers(size_t layers[SUMMARY_LAYERS], size_t depth);

/* Takes in a row of the point, the first first; once all are, all that is shown is there. */
void summary_add(PointSummary *summary, const Point *point, const Row *row);

/* ", certified", or how many cells are bounds and not proven. */
void print_certified(FILE *file, size_t bounds);

/* Prints the table of the grid's points of indices points [count]; summaries [count].  Axes have
 * columns exactly where they vary; where the terminal, or 80 columns, are too few for all figures,
 * the layers between and then others are left away. */
void summary_table_print(FILE *file, const Grid *grid, const size_t *points, size_t count,
                         const PointSummary *summaries);

#endif
