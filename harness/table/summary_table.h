/*
 * The short table after a sweep: the errors at a few layers, a line for each combination of what
 * varies; over seeds and inputs the worst.  Errors are largest entries, or relative to the results
 * where streams shrink or grow (summary.h).
 */
#ifndef HEADPROOF_HARNESS_TABLE_SUMMARY_TABLE_H
#define HEADPROOF_HARNESS_TABLE_SUMMARY_TABLE_H

#include "summary.h"

/* Prints the table of the grid's points of indices points [count]; summaries [count].  Axes have
 * columns exactly where they vary; where the terminal, or 80 columns, are too few for all figures,
 * the layers between and then others are left away.  0, or -1 when out of memory or the stream
 * failed. */
int summary_table_print(FILE *file, const Grid *grid, const size_t *points, size_t count,
                        const PointSummary *summaries) __attribute__((warn_unused_result));

#endif
