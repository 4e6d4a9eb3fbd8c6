/*
 * Several searches as one matrix, for a terminal.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_MATRIX_H
#define HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_MATRIX_H

#include "search.h"

#include <stdio.h>

/* Tolerances side by side; a line for every combination of the other axes that vary, with the
 * interval found, and another with the one predicted where there is one.  An interval is rounded
 * inward, to 4 digits.  0, or -1 (errno). */
int matrix_print(FILE *file, Search *const *searches, size_t count)
    __attribute__((warn_unused_result));

#endif
