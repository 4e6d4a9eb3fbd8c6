/*
 * One panel of a picture in gnuplot's words: its data, the marks of its axes, and its curves.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_PANEL_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_PANEL_H

#include "picture.h"

#include <stdio.h>

/* The styles of curves: colour as 0xRRGGBB, gnuplot's numbers of dashes and of points. */
typedef struct {
    unsigned colour;
    int dash, point;
    double width;
} Style;

/* That of an error, and of a value of y below SERIES_MOST. */
Style panel_error_style(ErrorKind kind);
Style panel_series_style(size_t y);

/* Writes ranges and marks of both axes, width and height pixels long; named: x has its numbers. */
void panel_write_axes(FILE *file, const Picture *picture, double width, double height, bool named);

/* Writes the data of a panel, to be read by panel_write. */
void panel_write_data(FILE *file, const Picture *picture, size_t panel);

/* Writes its curves, or its heat map. */
void panel_write(FILE *file, const Picture *picture, size_t panel);

#endif
