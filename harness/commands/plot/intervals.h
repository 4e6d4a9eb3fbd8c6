/*
 * Intervals of Omega drawn: a bar a search, from the smallest Omega to the largest, with a point at
 * the best; an end that is open, as far as was tried, has no edge and an arrow.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_INTERVALS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_INTERVALS_H

#include "panel.h"

#include <stdio.h>

/* The style of a bar, which is of a value of y where there are several. */
Style intervals_style(const Picture *picture, size_t y);

/* Writes a panel's data for gnuplot, and what draws them. */
void intervals_write_data(FILE *file, const Picture *picture, size_t panel);
void intervals_write(FILE *file, const Picture *picture, size_t panel);

/* Prints the lines of a place for a terminal: its figures, and a strip so wide. */
enum { INTERVAL_FIGURES = 18 };
void intervals_print(FILE *file, const Picture *picture, size_t panel, size_t y, size_t x,
                     int strip);

#endif
