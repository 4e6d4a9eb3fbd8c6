/*
 * What a search found as a row of a table.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_ROW_H
#define HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_ROW_H

#include "search.h"

#include <stdio.h>

/* The names of the columns, and a row, which is a Search (outcome.h); not 0 (errno) where they
 * could not be written. */
int row_write_header(FILE *file, const RunOptions *run);
int row_write(FILE *file, const void *row);

/* The same of a report's table of cases. */
int row_write_case_header(FILE *file, const RunOptions *run);
int row_write_case(FILE *file, const void *row);

/* What repeats the search. */
void row_print_command(FILE *file, const void *row, const RunOptions *run);

#endif
