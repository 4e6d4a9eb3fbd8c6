/*
 * What a grid will take, before any work.
 */
#ifndef HEADPROOF_HARNESS_PREDICT_H
#define HEADPROOF_HARNESS_PREDICT_H

#include "grid.h"

/* Rejects points that no model can be made of and points that would not fit in four fifths of
 * the machine's memory; lowers *threads until as many of the largest point fit.  0, or 2 after a
 * message with the figure and the point's command line. */
int grid_predict(const Grid *grid, int *threads) __attribute__((warn_unused_result));

#endif
