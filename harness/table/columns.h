/*
 * The columns of a sweep's table: the one place that names them, in their order.  The header, rows
 * and their reading, the column `bounds`, check's rules and merge's positions follow from it.
 *
 * Umbrella header: for meanings.c, what every column of every command's table holds, in which unit:
 * the text of docs/columns.md.
 */
#ifndef HEADPROOF_HARNESS_TABLE_COLUMNS_H
#define HEADPROOF_HARNESS_TABLE_COLUMNS_H

#include "../point/point.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The last two keys: axes that have no column of their own, and the layer, from 1. */
#define OPTIONS_COLUMN "options"
#define LAYER_COLUMN "layer"

/* The names of a row's cells that are only upper bounds, in the columns' order, a semicolon between
 * two.  In tables of earlier versions BOUNDS_PLANNED may stand behind them: digits of the row were
 * not proven. */
#define BOUNDS_COLUMN "bounds"
#define BOUNDS_PLANNED "planned" /* no column's name */

/* The kind of a column's cells, and so the rule by which check compares them (docs/ci.md, "The
 * rules"). */
typedef enum {
    COLUMN_UNKNOWN,         /* no column of the table */
    COLUMN_KEY,             /* a part of the row's name */
    COLUMN_REFERENCE,       /* a size that is the same on every machine */
    COLUMN_MACHINE,         /* an error that may grow by a factor */
    COLUMN_SHARE,           /* a share that may fall by it */
    COLUMN_BITS,            /* a count of bits, not compared */
    COLUMN_DIFFERENCE_BITS, /* the same of the difference, or nothing */
    COLUMN_WORD,            /* compared as it is written */
    COLUMN_STATUS,          /* the row's status */
    COLUMN_BOUNDS           /* names of cells, which are read with them */
} ColumnKind;

/* In what a size is given. */
typedef enum {
    UNIT_ABSOLUTE, /* that of the results */
    UNIT_RELATIVE, /* parts of the result */
    UNIT_ULP,      /* ulps of the largest result, in the row's arithmetic */
    UNIT_LOG10     /* its logarithm to the base of ten */
} ColumnUnit;

/* A column behind the keys. */
typedef struct {
    const char *name;
    ColumnKind kind;
    ColumnUnit unit;
    size_t cell;        /* the place in a Row of the size, of columns that hold one */
    const char *native; /* the column of T's own error, of what T' and T differ by, or NULL */
} Column;

/* The key columns, in order: a name for every i, then NULL. */
const char *column_key(size_t i);

/* The columns behind them, in order: one for every i, then NULL; there are at most COLUMN_MOST. */
enum { COLUMN_MOST = 64 };
const Column *column_at(size_t i);

/* How many of them a table has: with the last ones, those of --propagation, or without. */
size_t column_count(bool propagation);

/* The column of that name behind the keys, of a sweep's table or a guarantee's, or NULL. */
const Column *column_find(const char *name);

/* The kind of the column of that name, keys among them. */
ColumnKind column_kind(const char *name);

/* The axis of the column of that name, of whatever command's table; AXIS_COUNT: of none. */
Axis column_axis(const char *name);

/* Is a column of that name, of whatever command's table, a part of its rows' names? */
bool column_names_row(const char *name);

/* Does a column of that name, of whatever command's table, hold words, even where one of them looks
 * like a number? */
bool column_holds_text(const char *name);

/* The name of the one column behind the keys of that kind. */
const char *column_name(ColumnKind kind);

/* The column of an error in a norm, of a part of those of --propagation, and of the logarithm of
 * an error's largest entry. */
const Column *column_of_error(ErrorKind kind, Norm norm);
const Column *column_of_part(size_t part);
const Column *column_of_log(ErrorKind kind);

/* A column of sizes: of kind COLUMN_REFERENCE or COLUMN_MACHINE. */
bool column_is_size(const Column *column);

/* cell = what the column of sizes holds in that row of the point, in its unit. */
void column_value(RefCell *cell, const Column *column, const Point *point, const Row *row);

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

/* Name, unit and meaning of a column in the table of that command (`sweep`, `cost`, ...): errors in
 * their norms and units follow from columns.c, axes from their help, the others have a row of their
 * own.  Blank: nothing is said of it, and a row is missing. */
json_t *column_text(const char *command, const char *name);

#endif
