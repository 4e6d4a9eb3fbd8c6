/*
 * The column `bounds`: the names of a row's cells that are only upper bounds, in the columns'
 * order, a semicolon between two.  In tables of earlier versions BOUNDS_PLANNED may stand behind
 * them: digits of the row were not proven.
 */
#ifndef HEADPROOF_HARNESS_TABLE_BOUNDS_H
#define HEADPROOF_HARNESS_TABLE_BOUNDS_H

#include "../point/point.h"

#include <stddef.h>
#include <stdio.h>

#define BOUNDS_COLUMN "bounds"
#define BOUNDS_PLANNED "planned" /* no column's name */

/* The list of a sweep's row.  Returns how many names it has; file NULL: they are only counted. */
size_t bounds_write(FILE *file, const Point *point, const Row *row);

/* A list that is being written. */
typedef struct {
    FILE *file;
    bool any;
} BoundsList;

/* One more cell: its name, if it is a bound. */
void bounds_take(BoundsList *list, const char *name, CellState state);

/* Is the name in the list, which a NUL ends, or the cell that it is? */
bool bounds_has(const char *list, const char *name);

#endif
