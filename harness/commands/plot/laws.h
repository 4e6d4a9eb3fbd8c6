/*
 * The laws of `growth` over a picture's curves.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_LAWS_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_LAWS_H

#include "picture.h"

#include <stdio.h>

/* Writes $laws: a block a panel of lines through x, y.  Of every series that the curves are
 * of, of medians over seeds; along Omega as far as each law was fitted, else across the picture.
 * 0, or 99 after a message. */
int laws_write(FILE *file, const Picture *picture) __attribute__((warn_unused_result));

#endif
