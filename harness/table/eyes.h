/*
 * What a reader is shown of a table: in which norm, which columns, how many rows.  The table for
 * eyes, the rows of a sweep on a terminal and the short table after it ask here.
 */
#ifndef HEADPROOF_HARNESS_TABLE_EYES_H
#define HEADPROOF_HARNESS_TABLE_EYES_H

#include "../grid/grid.h"
#include "../point/axes.h"
#include "columns.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- The norm ------------------------------------------------------------------------------- */

/* The sizes of a table's streams: the smallest and the largest met, as logarithms to the base of
 * ten.  Where a stream shrinks to 1e-30, so do its absolute errors, and tell nothing of their
 * digits. */
typedef struct {
    double least, most;
} StreamSizes;

/* None met. */
#define STREAM_SIZES_NONE ((StreamSizes){INFINITY, -INFINITY})

/* Takes in the size that a row's error tells of, which is the error over what it is relatively;
 * both are logarithms.  What is zero, absent or not finite tells of none. */
void stream_sizes_add(StreamSizes *sizes, double log10_error, double log10_relative);

/* Takes in what others met. */
void stream_sizes_join(StreamSizes *sizes, StreamSizes other);

/* The norm in which a picture or a summary of the table shows most: NORM_MAX, or NORM_REL where
 * there are many layers and streams shrink or grow by more than 1000. */
Norm stream_sizes_norm(StreamSizes sizes, bool many_layers);

/* ---- Columns -------------------------------------------------------------------------------- */

/* The errors in the order in which a reader looks for them. */
extern const ErrorKind errors_by_use[ERROR_KINDS];

/* In which order columns are given the room that there is; those that are kept are shown in any
 * case, those that are unseen in none. */
enum { RANK_KEPT = 0, RANK_OTHER = 32, RANK_ERROR = 500, RANK_UNSEEN = 1000 };

/* Of the column of that name, of whatever command's table, which is no part of rows' names: two
 * errors in that norm are kept, and the others, from RANK_ERROR on, come last; none is seen in
 * other norms or units. */
int column_rank(const char *name, Norm norm);

/* A column; width: with what is between two.  Of a table whose rows are all there: are its cells
 * all blank, or are there two that differ and are not? */
typedef struct {
    size_t width;
    int rank;
    bool taken, blank, varies;
} SeenColumn;

/* Takes of columns [count], by their ranks, those for which there is room in the line; those of one
 * rank together.  Returns the lowest rank for which there was none, RANK_KEPT too; RANK_UNSEEN: all
 * fit. */
int columns_fit(SeenColumn *columns, size_t count, size_t line);

/* Where there is no room for rows' names either, they have lines of their own: adds "NAME VALUE" to
 * one, in which *at columns are taken, or to the next; nothing of a blank value. */
void folded_add(FILE *file, size_t *at, size_t line, const char *name, const char *value);

/* ---- Axes: the first columns of a sweep's table -------------------------------------------- */

/* axes, widths [count]: what varies, in grid order, and how wide its values are; width: of all of
 * them, with two blanks between columns.  folded: whoever prints them has no room for them beside
 * the least of figures, and they have a line of their own, above that of the figures. */
typedef struct {
    Axis axes[AXIS_COUNT];
    size_t widths[AXIS_COUNT];
    size_t count, width;
    bool folded;
} AxisColumns;

/* Of the grid's points of indices points [count].  An axis varies where points for which it matters
 * have two values of it, unless each is only the default that follows from the others, as d_ff from
 * d.  Where none varies Omega has a column.  together: seeds and inputs have none, since what is
 * shown is the worst over them. */
void axis_columns_find(AxisColumns *columns, const Grid *grid, const size_t *points, size_t count,
                       bool together);

/* Have the points one value on each of the axes?  Orders those that do not. */
int axis_columns_compare(const AxisColumns *columns, const Point *a, const Point *b);

/* The point's values, or (point NULL) the names, padded to columns->width, at least to least;
 * folded: names are left away, and values stand on lines of their own, at most line wide, after
 * which the padding is least. */
void axis_columns_print(FILE *file, const AxisColumns *columns, const Point *point, size_t least,
                        size_t line);

/* ---- Rows ----------------------------------------------------------------------------------- */

/* A terminal has so many rows of a table, and says where the others are. */
enum { ROWS_SEEN = 20 };

#endif
