/*
 * What a grid will take, before any work.
 */
#ifndef HEADPROOF_HARNESS_PREDICT_H
#define HEADPROOF_HARNESS_PREDICT_H

#include "grid.h"

/* What may be used when nobody says: four fifths of the machine's memory, in bytes. */
double memory_standard(void);

/* Rejects points that no model can be made of and points that would not fit in memory bytes (0:
 * the standard) alone; lowers *threads (unless NULL) until as many of the largest point fit.  0,
 * or 2 after a message with the figure and the point's command line. */
int grid_predict(const Grid *grid, double memory, int *threads) __attribute__((warn_unused_result));

#endif
