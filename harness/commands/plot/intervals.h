/*
 * Intervals of Omega on a terminal: "[=*=]", and < or > for an end that is open, which is as far as
 * was tried.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_INTERVALS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_INTERVALS_H

#include "picture.h"

#include <stdio.h>

/* Prints the lines of a place for a terminal: its figures, and a strip so wide. */
enum { INTERVAL_FIGURES = 18 };
void intervals_print(FILE *file, const Picture *picture, size_t panel, size_t y, size_t x,
                     int strip);

#endif
