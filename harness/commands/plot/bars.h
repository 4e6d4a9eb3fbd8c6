/*
 * A picture as text, for a terminal: bars and letters within 80 columns.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_BARS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_BARS_H

#include "picture.h"

#include <stdio.h>

/* Prints every panel, a line a value of x; of many values some, evenly spread.  0, or -1 when
 * memory is short or the stream failed. */
int bars_print(FILE *file, const Picture *picture) __attribute__((warn_unused_result));

#endif
