/*
 * The rows of a sweep on a terminal, as they come: a column for each axis that varies, the layer of
 * stacks, as many errors as there is room for, the status.
 */
#ifndef HEADPROOF_HARNESS_TABLE_LIVE_H
#define HEADPROOF_HARNESS_TABLE_LIVE_H

#include "../base/terminal.h"
#include "../grid/grid.h"
#include "format.h"
#include "summary.h"

/* Figures at most: two errors and what --propagation makes of them. */
enum { LIVE_FIGURES = 2 * (1 + PROPAGATION_COUNT / 2) };

/* widths [figures]: of those that have a column; 0: it has none.  many: points, and too many rows
 * for all their layers. */
typedef struct {
    AxisColumns axes;
    size_t widths[LIVE_FIGURES], figures;
    size_t line;        /* columns of the terminal */
    const Point *point; /* that the rows are of */
    bool has_layer, propagation, colors, many;
    size_t hidden;        /* rows that are not shown */
    StreamSizes sizes;    /* of all rows so far */
    bool begun, relative; /* a header is there; errors are relative to r(T) since */
} Live;

/* For the grid's points of indices points [count].  line: columns of the terminal.  Errors that are
 * judged come first, then total, construction, native, rounding, observed, approximation, as far as
 * there is room; errors that no point has, as without arithmetic, have no column.  0, or -1: memory
 * is short. */
void live_open(Live *live, const Grid *grid, const size_t *points, size_t count, size_t line);

/* Of the word that a row has for its status; ok has none where nothing was judged. */
Color live_status_color(const char *status, bool judged);

/* The rows that the format takes next are the point's, whose streams have these sizes. */
void live_take(Live *live, const Point *point, StreamSizes sizes);

/* The state of its table is a Live.  A header comes before the first row, and again where streams
 * have shrunk or grown so much that errors are relative to r(T) from there.  Of deep stacks a part
 * of the layers is shown. */
extern const Format format_live;

#endif
