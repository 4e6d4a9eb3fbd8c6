/*
 * The axes that vary among points, as the first columns of a table for eyes.
 */
#ifndef HEADPROOF_HARNESS_TABLE_AXIS_COLUMNS_H
#define HEADPROOF_HARNESS_TABLE_AXIS_COLUMNS_H

#include "../point/axes.h"

/* axes, widths [count]: what varies, in grid order, and how wide its values are; width: of all of
 * them, with two blanks between columns.  folded: whoever prints them says so where there is no room
 * for them and the least of figures: they have a line of their own, above that of the figures. */
typedef struct {
    Axis axes[AXIS_COUNT];
    size_t widths[AXIS_COUNT];
    size_t count, width;
    bool folded;
} AxisColumns;

/* An axis varies where points for which it matters have two values of it, unless each is only the
 * default that follows from the others, as d_ff from d.  Where none varies Omega has a column.
 * together: seeds and inputs have none, since what is shown is the worst over them. */
void axis_columns_find(AxisColumns *columns, const Point *const *points, size_t count,
                       bool together);

/* Have the points one value on each of the axes?  Orders those that do not. */
int axis_columns_compare(const AxisColumns *columns, const Point *a, const Point *b);

/* The point's values, or (point NULL) the names, padded to columns->width, at least to least;
 * folded: names are left away, and values stand on lines of their own, at most line wide, after
 * which the padding is least. */
void axis_columns_print(FILE *file, const AxisColumns *columns, const Point *point, size_t least,
                        size_t line);

#endif
