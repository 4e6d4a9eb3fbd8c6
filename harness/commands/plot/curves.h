/*
 * The curves of a picture: which errors and values of y have one, their styles and their names.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_CURVES_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_CURVES_H

#include "picture.h"

/* Finds them, once cells, kind and main error are there.  0, or 99 after a message. */
int curves_find(Picture *picture) __attribute__((warn_unused_result));

#endif
