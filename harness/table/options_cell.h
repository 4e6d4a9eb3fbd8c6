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

/* A row's value on an axis by its other columns; text NULL: the table has no such column. */
typedef struct {
    const char *text;
    size_t length;
} AxisCell;

/* Finds these cells in a line of a sweep's table, and in *options the line's options.  Returns what
 * is behind those; NULL: there are fewer cells. */
const char *options_of_line(AxisCell columns[AXIS_COUNT], AxisCell *options, const char *line);

/* The value that an axis has in options [size], and its length; NULL: none is there. */
const char *options_find(size_t *length, const char *options, size_t size, const char *name);

/* Does a tolerance judge such a row? */
bool options_judge(const char *options, size_t size);

/* text = that value, or the default that the axis has in such a row. */
void options_value(char text[VALUE_TEXT], Axis axis, const char *options, size_t size,
                   const AxisCell columns[AXIS_COUNT]);

/* --expand: a table with a column of its own for each axis that shares the column `options`: that
 * was given, or that `options` of any row has.  They stand behind the other columns.
 * Writes lines [length] of a table, newlines included, each with the cells of these axes behind
 * it: the point's values, blank where they do not matter; point NULL: the axes' names. */
void expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                    size_t length);

#endif
