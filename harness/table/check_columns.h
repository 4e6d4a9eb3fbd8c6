/*
 * What the cells of a table that is read back may hold.
 */
#ifndef HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H
#define HEADPROOF_HARNESS_TABLE_CHECK_COLUMNS_H

#include "../base/csv_read.h"
#include "../grid/point.h"

/* Of a row for which no Omega is there, in tables of other commands than sweep. */
#define STATUS_NONE "none"

/* STATUS_OK + 1 when there is none of that name. */
Status status_find(const char *name);

/* Every cell is what its column takes: blank, a status, names of cells, or a number in its
 * domain (an error is not negative, a share is from 0 to 1).  0; 2 after a message with file, line
 * and token; 99 after one when memory is short. */
int check_cells(const Csv *csv) __attribute__((warn_unused_result));

#endif
