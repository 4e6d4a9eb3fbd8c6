/*
 * Checks of the cells of a table that is read back.
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H
#define HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H

#include "columns.h"

#include "../base/csv_read.h"
#include "../base/number.h"
#include "../point/point.h"

#include <stdint.h>

/* Of a row for which no Omega is there, in tables of other commands than sweep. */
#define STATUS_NONE "none"

/* The status that text [length] names; STATUS_OK + 1: none. */
Status status_find(const char *text, size_t length);

/* NULL, or the words for what a cell of that column, which is not `bounds`, must be and this one is
 * not.  bound: the table says that it is only one.  number: what it is, of columns of numbers. */
const char *cell_fault(Number *number, const Column *column, const char *cell, bool bound);

/* Is the row's cell in that column only a bound? */
bool csv_is_bound(const Csv *csv, size_t row, const char *name);

/* Every cell is what its column takes: blank, a status, names of cells, or a number in its
 * domain (an error is not negative, a share is from 0 to 1).  0; 2 after a message with file, line
 * and token. */
int check_cells(const Csv *csv) __attribute__((warn_unused_result));

#endif
