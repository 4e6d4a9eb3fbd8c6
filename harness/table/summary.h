/*
 * A point's part of the short table after a sweep: its errors at a few layers.
 *
 * Umbrella header: for summary_table.c, which prints it.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SUMMARY_H
#define HEADPROOF_HARNESS_TABLE_SUMMARY_H

#include "../../reference/reference.h"
#include "../grid/grid.h"

#include <stdbool.h>

/* The sizes of a table's streams: the smallest and the largest met, as logarithms to the base of
 * ten.  Where a stream shrinks to 1e-30, so do its absolute errors, and tell nothing of their
 * digits. */
typedef struct {
    double least, most;
} StreamSizes;

/* None met. */
StreamSizes stream_sizes_none(void);

/* Takes in the size that a row's error tells of, which is the error over what it is relatively;
 * both are logarithms.  What is zero, absent or not finite tells of none. */
void stream_sizes_add(StreamSizes *sizes, double log10_error, double log10_relative);

/* The same of numbers as a table has them. */
void stream_sizes_add_texts(StreamSizes *sizes, const char *error, const char *relative);

/* Takes in what others met. */
void stream_sizes_join(StreamSizes *sizes, StreamSizes other);

/* The norm in which a picture or a summary of the table shows most: NORM_MAX, or NORM_REL where
 * there are many layers and streams shrink or grow by more than 1000. */
Norm stream_sizes_norm(StreamSizes sizes, bool many_layers);

/* The errors shown are the first of errors_by_use (columns.h). */
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

void summary_init(PointSummary *summary);

/* Takes in a row of the point. */
void summary_add(PointSummary *summary, const Point *point, const Row *row);

/* ", certified", or how many cells are bounds and not proven. */
void print_certified(FILE *file, size_t bounds);

/* Prints the table of the grid's points of indices points [count]; summaries [count].  Axes have
 * columns exactly where they vary; where the terminal, or 80 columns, are too few for all figures,
 * the layers between and then others are left away. */
void summary_table_print(FILE *file, const Grid *grid, const size_t *points, size_t count,
                         const PointSummary *summaries);

#endif
