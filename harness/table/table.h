/*
 * Tables: the CSV's header and rows.
 *
 * Umbrella header: for table_read.c, too.
 */
#ifndef HEADPROOF_HARNESS_TABLE_TABLE_H
#define HEADPROOF_HARNESS_TABLE_TABLE_H

#include "../grid/grid.h"

#include <stdint.h>

/* Writes the header line / one row, newline included, C locale, in the cells' digits. A cell that
 * is absent is blank; CELL_ZERO is 0; CELL_BOUND prints its bound, rounded up, and is named in the
 * column `bounds`; CELL_NONFINITE prints nan or inf.  propagation: with the columns of
 * --propagation, which rows of points have that ask for it.  The owner of the stream asks it in the
 * end whether it failed, as after every writer of rows. */
void table_write_header(FILE *file, bool propagation);
void table_write_row(FILE *file, const Point *point, const Row *row);

/* --expand: a table with a column of its own for each axis that shares the column `options`: that
 * was given, or that `options` of any row has.  They stand behind the other columns.
 * Writes lines [length] of a table, newlines included, each with the cells of these axes behind
 * it: the point's values, blank where they do not matter; point NULL: the axes' names. */
void expanded_write(FILE *file, const Grid *grid, const Point *point, const char *lines,
                    size_t length);

/* ---- Keys ------------------------------------------------------------------------------------ */

/* The axes that are key columns. */
#define AXES_KEY ((AXIS_BIT(AXIS_SEED) << 1) - 1)
#define AXES_KEY_WITHOUT(axis) (AXES_KEY & ~AXIS_BIT(axis))

/* Writes the cells of axes (bit a: axis a), a comma between two: the point's values, blank where
 * they do not matter, or (point NULL) the names of their columns. */
void axes_write(FILE *file, const Point *point, uint64_t axes);

/* The key columns alone, as in a row, without layer: "fused,silu,none,20,...".  For min-omega
 * the caller passes with_omega = false and seeds as text (NULL: the point's own seed). */
void table_write_key_header(FILE *file, bool with_omega);
void table_write_key(FILE *file, const Point *point, bool with_omega, const char *seeds);

/* The key that tells a point's rows from others', however it was asked for: their key columns
 * without layer; free it. */
char *table_key(const Point *point) __attribute__((warn_unused_result));

/* Writes a point's cell `options`: the axes that have no column of their own and are not at their
 * default, as NAME=VALUE, a semicolon between two, in grid order.  also: bit a: axis a has a column
 * elsewhere, but not in this table. */
void options_write(FILE *file, const Point *point, uint64_t also);

/* Reads the key at the beginning of a line of a sweep's table: the point gets the depth and what
 * judges its rows, with the defaults that these have in such a row.  Returns the key's length; 0:
 * it is none. */
size_t table_read_key(Point *point, const char *line);

/* ---- Cells ----------------------------------------------------------------------------------- */

/* One cell as in a row. */
enum { CELL_TEXT = 64 };
void table_print_cell(char text[CELL_TEXT], const RefCell *cell);
void table_write_cell(FILE *file, const RefCell *cell);

/* Cuts a line into its cells, the first of which are stored.  Returns how many it has. */
size_t table_cut(const char **cells, size_t most, char *line);

/* Reads back the row of that key (of table_key) and layer at the beginning of text [size], of a
 * table with or without the columns of --propagation: its cells (every value to the digits that are
 * there) and its status.  Returns the length of its line, newline included; 0 when no such row is
 * there, whole. text ends in a NUL. */
size_t table_read_row(Row *row, const char *text, size_t size, const char *key, size_t layer,
                      bool propagation) __attribute__((warn_unused_result));

#endif
