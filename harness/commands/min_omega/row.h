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

#endif
