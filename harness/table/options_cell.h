/*
 * The cell `options` of a row: the axes that have no column of their own and are not at their
 * default, as NAME=VALUE, a semicolon between two, in grid order.
 */
#ifndef HEADPROOF_HARNESS_TABLE_OPTIONS_CELL_H
#define HEADPROOF_HARNESS_TABLE_OPTIONS_CELL_H

#include "../point/axes.h"
#include "../grid/grid.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes a point's cell.  also: axes that have a column elsewhere, but not in this table; it ends
 * with AXIS_COUNT, NULL: none. */
void options_write(FILE *file, const Point *point, const Axis *also);

/* Reads the key at the beginning of a line of a sweep's table: the point gets the depth and what
 * judges its rows, with the defaults that these have in such a row.  Returns the key's length, up to
 * the options; 0: it is none. */
size_t key_read(Point *point, const char *line);

/* --expand: a table with a column of its own for each axis that shares the column `options`: that
 * was given, or that `options` of any row has.  They stand behind the other columns.
 * Writes lines [length] of a table, newlines included, each with the cells of these axes behind
 * it: the point's values, blank where they do not matter; point NULL: the axes' names. */
void expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                    size_t length);

#endif
