/*
 * Tables: the CSV's header and rows.
 *
 * Umbrella header: for table_read.c, too.
 */
#ifndef HEADPROOF_HARNESS_TABLE_TABLE_H
#define HEADPROOF_HARNESS_TABLE_TABLE_H

#include "../grid/grid.h"

/* Writes the header line / one row, newline included, C locale, in the cells' digits. A cell that
 * is absent is blank; CELL_ZERO is 0; CELL_BOUND prints its bound, rounded up, and is named in the
 * column `bounds`; CELL_NONFINITE prints nan or inf.  propagation: with the columns of
 * --propagation, which rows of points have that ask for it.  The owner of the stream asks it in the
 * end whether it failed, as after every writer of rows. */
void table_write_header(FILE *file, bool propagation);
void table_write_row(FILE *file, const Point *point, const Row *row);

/* The key columns alone, as in a row, without layer: "fused,silu,none,20,...".  For min-omega
 * the caller passes with_omega = false and seeds as text (NULL: the point's own seed). */
void table_write_key_header(FILE *file, bool with_omega);
void table_write_key(FILE *file, const Point *point, bool with_omega, const char *seeds);

/* The key that tells a point's rows from others', however it was asked for: their key columns
 * without layer; free it. */
char *table_key(const Point *point) __attribute__((warn_unused_result));

/* One cell as in a row. */
enum { CELL_TEXT = 64 };
void table_print_cell(char text[CELL_TEXT], const RefCell *cell);
void table_write_cell(FILE *file, const RefCell *cell);

/* Reads back the row of that key (of table_key) and layer at the beginning of text [size], of a
 * table with or without the columns of --propagation: its cells (every value to the digits that are
 * there) and its status.  Returns the length of its line, newline included; 0 when no such row is
 * there, whole. text ends in a NUL. */
size_t table_read_row(Row *row, const char *text, size_t size, const char *key, size_t layer,
                      bool propagation) __attribute__((warn_unused_result));

#endif
