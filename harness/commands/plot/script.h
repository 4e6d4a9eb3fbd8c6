/*
 * A picture as a script for gnuplot, data and all.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_SCRIPT_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_SCRIPT_H

#include "picture.h"

#include <stdio.h>

/* The formats of a picture; the script is that of an SVG. */
typedef enum { TARGET_SVG, TARGET_PNG, TARGET_PDF, TARGET_SCRIPT, TARGET_COUNT } Target;

/* Writes a script that makes gnuplot (5.2 or later) print the picture on its stdout; what the
 * stream came to is its own to say.  0; 2 after a message: the picture is to be too low for what is
 * on it; 99 after one. */
int script_write(FILE *file, const Picture *picture, Target target)
    __attribute__((warn_unused_result));

#endif
