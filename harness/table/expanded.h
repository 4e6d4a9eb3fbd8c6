/*
 * --expand: a table with a column of its own for each axis that shares the column `options`: that
 * was given, or that `options` of any row has.  They stand behind the other columns.
 */
#ifndef HEADPROOF_HARNESS_TABLE_EXPANDED_H
#define HEADPROOF_HARNESS_TABLE_EXPANDED_H

#include "../grid/grid.h"

/* Writes lines [length] of a table, newlines included, each with the cells of these axes behind
 * it: the point's values, blank where they do not matter; point NULL: the axes' names.  0, or -1
 * when the stream failed. */
int expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                   size_t length) __attribute__((warn_unused_result));

#endif
