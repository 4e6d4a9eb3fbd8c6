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

#endif
