/*
 * What a search found as a row of a table.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_ROW_H
#define HEADPROOF_HARNESS_COMMANDS_MIN_OMEGA_ROW_H

#include "search.h"

#include <stdio.h>

/* The names of the columns, and a row; not 0 (errno) where they could not be written. */
int row_write_header(FILE *file);
int row_write(FILE *file, const Search *search);

/* The same of a report's table of cases (check/outcome.h). */
int row_write_case_header(FILE *file);
int row_write_case(FILE *file, const Search *search);

/* What repeats the search; free it.  NULL: memory is short. */
char *row_command(const Search *search, const RunOptions *run) __attribute__((warn_unused_result));

#endif
