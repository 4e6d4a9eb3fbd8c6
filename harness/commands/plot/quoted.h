/*
 * Strings in the scripts that gnuplot reads.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_QUOTED_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_QUOTED_H

#include <stdio.h>

/* Writes a string as gnuplot reads it, in '...', within which nothing but ' means anything. */
void quoted_write(FILE *file, const char *text);

#endif
