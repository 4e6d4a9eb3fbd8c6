/*
 * The column `bounds`: the names of a row's cells that are only upper bounds, in the columns'
 * order, a semicolon between two.
 */
#ifndef HEADPROOF_HARNESS_TABLE_BOUNDS_H
#define HEADPROOF_HARNESS_TABLE_BOUNDS_H

#include "../grid/point.h"

#include <stddef.h>
#include <stdio.h>

#define BOUNDS_COLUMN "bounds"
#define CELL_NAME 32 /* room for a name in the list */

/* The list of a sweep's row.  0, or -1 (errno). */
int bounds_write(FILE *file, const Point *point, const Row *row)
    __attribute__((warn_unused_result));

/* How many names that list has. */
size_t bounds_count(const Point *point, const Row *row);

/* Makes the cells of text [length] bounds; states: of every column's cell.  false: one of them is
 * not a value that the row has, or they are not in order. */
bool bounds_read(CellState *states, const char *text, size_t length)
    __attribute__((warn_unused_result));

/* One more name of a list that is being written; *first: it is the first one yet. */
void bounds_add(FILE *file, bool *first, const char *name);

/* Is the name in the list, which a NUL ends? */
bool bounds_has(const char *list, const char *name);

#endif
