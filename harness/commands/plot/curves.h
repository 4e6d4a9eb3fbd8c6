/*
 * The curves of a picture: which errors and values of y have one, their styles and their names.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_CURVES_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_CURVES_H

#include "caption.h"

/* Colours of Okabe and Ito, which the colour-blind can tell apart; gnuplot's numbers of dashes and
 * of points, 0: the curve has none. */
typedef struct {
    unsigned colour;
    double width;
    int dash, point;
} Style;

/* A curve in every panel, or the bars of a value of y. */
typedef struct {
    ErrorKind kind; /* not of bars */
    size_t y;
    Style style;
    char title[CAPTION_LINE]; /* "": it is not in the legend */
} Curve;

enum { CURVES_MOST = 3 * (SERIES_MOST + 1) };

/* Finds them in the order in which they are drawn; returns their number, 0 of a heat map. */
size_t curves_find(Curve curves[CURVES_MOST], const Picture *picture);

#endif
