/*
 * The data of a picture in a script for gnuplot.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_BLOCKS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_BLOCKS_H

#include "curves.h"

#include <stdio.h>

/* The margin above and below the curves, and how far from the frame an arrow or a cross at bars
 * stands, as a part of the scale. */
#define BLOCKS_MARGIN 0.04

/* Writes $data and $marks.
 *
 * $data has a block a panel and value of y.  Its lines are of curves x and the six errors; of
 * bars x, left, right, low, high and the edges that are known; of a heat map, whose blocks are one
 * a panel, x, y and the error.
 * $marks has a block a panel of single points: x, y, gnuplot's number of the point, its colour. */
void blocks_write(FILE *file, const Picture *picture, const Curve *curves, size_t count);

/* The top of what is drawn: what is not finite is a cross above all that is. */
double blocks_top(const Picture *picture);

#endif
