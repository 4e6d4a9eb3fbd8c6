/*
 * gnuplot as a child process: a script goes in, a picture comes out.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_PLOT_GNUPLOT_H
#define HEADPROOF_HARNESS_COMMANDS_PLOT_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

/* The exit code where a program that is not part of this one is not installed. */
enum { EXIT_ABSENT = 77 };

/* Runs gnuplot on the script, a file with a descriptor.  *picture [*size], to be freed and with a
 * NUL behind it, is what it printed.  0; EXIT_ABSENT after a message that names the package; 99
 * after one where it failed, or the machine did, or where it had not ended after so many seconds:
 * it is ended then, as it is by a signal that ends the run. */
int gnuplot_run(char **picture, size_t *size, FILE *script, double seconds)
    __attribute__((warn_unused_result));

#endif
