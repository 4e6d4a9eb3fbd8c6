/*
 * A picture as a script for gnuplot, data and all.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_SCRIPT_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_SCRIPT_H

#include "picture.h"

#include <stdio.h>

typedef enum { DEVICE_SVG, DEVICE_PNG, DEVICE_PDF } Device;

/* Writes a script that makes gnuplot (5.2 or later) print the picture on its stdout.  0, or -1 when
 * memory is short or the stream failed. */
int script_write(FILE *file, const Picture *picture, Device device)
    __attribute__((warn_unused_result));

/* The width of a panel, between its axes, and that of a character of its marks, in pixels. */
double script_panel_width(const Picture *picture);
#define SCRIPT_CHARACTER 7

/* Writes a string as gnuplot reads it, in '...', within which nothing but ' means anything. */
void script_quote(FILE *file, const char *text);

#endif
