/*
 * A picture as the bytes of a file.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_RENDER_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_RENDER_H

#include "script.h"

/* *text [*size], to be freed and with a NUL behind it, is the picture; TARGET_SCRIPT asks for no
 * gnuplot.  0; EXIT_ABSENT (gnuplot.h) or 99 after a message. */
int render(char **text, size_t *size, const Picture *picture, Target target)
    __attribute__((warn_unused_result));

#endif
