/*
 * The data of a picture in a script for gnuplot.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_BLOCKS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_BLOCKS_H

#include "picture.h"

#include <stdio.h>

/* The margin above and below the curves, and how far from the frame a cross stands, as a part of
 * the scale. */
#define BLOCKS_MARGIN 0.04

/* Writes $data: a block a panel and curve, of a heat map a panel.  Its lines are x, three numbers,
 * and the mark there: its place upwards, gnuplot's number of the point and its colour; the place is
 * NaN where there is none.  The numbers are of curves the median, the smallest and the largest
 * error; of an interval, which has two lines, where an arrow begins, its length, and its style,
 * from 1 on two a curve: with an edge, and with a head; of a heat map y and the error. */
void blocks_write(FILE *file, const Picture *picture);

#endif
