/*
 * A picture as the bytes of a file: gnuplot as a child process, a script goes in, a picture comes
 * out.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_RENDER_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_RENDER_H

#include "script.h"

/* The exit code where a program that is not part of this one is not installed. */
enum { EXIT_ABSENT = 77 };

/* *text [*size], to be freed and with a NUL behind it, is the picture; TARGET_SCRIPT asks for no
 * gnuplot.  0; EXIT_ABSENT, 2 or 99 after a message. */
int render(char **text, size_t *size, const Picture *picture, Target target)
    __attribute__((warn_unused_result));

/* *drawn [*size], the same way, is what gnuplot printed for the script, a file with a descriptor.
 * 0; EXIT_ABSENT after a message that names the package; 99 after one where it failed, or the
 * machine did, or where it had not ended after so many seconds. */
int render_script(char **drawn, size_t *size, FILE *script, unsigned seconds)
    __attribute__((warn_unused_result));

#endif
