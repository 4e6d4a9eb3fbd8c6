/*
 * Where each axis of the rows goes: along the picture, up it, into panels, or nowhere.
 */
#include "picture.h"

#include "../../../memory/need.h"
#include "../../base/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Two axes are a grid where this share of their pairs is there. */
#define GRID_SHARE 0.6

static size_t filled(const Picture *picture, size_t axis)
{
    return picture->data->axes[axis].filled;
}

int places_compare(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The pairs of values of two axes that rows have, blanks apart; *first: the values of a in them. */
static size_t count_pairs(const Picture *picture, size_t a, size_t b, size_t *first)
{
    const Measures *data = picture->data;
    size_t *pairs = picture->scratch, width = data->axes[b].count, rows = 0, count = 0;
    for (size_t row = 0; row < data->rows; row++) {
        pairs[rows] = data->values[row][a] * width + data->values[row][b];
        rows += !measures_is_blank(data, row, a) && !measures_is_blank(data, row, b);
    }
    qsort(pairs, rows, sizeof *pairs, places_compare);
    *first = 0;
    for (size_t i = 0; i < rows; i++) {
        count += i == 0 || pairs[i] != pairs[i - 1];
        *first += i == 0 || pairs[i] / width != pairs[i - 1] / width;
    }
    return count;
}

/* Have rows most of the pairs of values of x and another axis? */
static bool is_grid(const Picture *picture, size_t axis)
{
    size_t x = picture->x.axis, first;
    double all = (double)filled(picture, x) * (double)filled(picture, axis);
    return (double)count_pairs(picture, x, axis, &first) >= GRID_SHARE * all;
}

/* Is there one value of axis b, blanks apart, for every value of axis a? */
static bool hangs_on(const Picture *picture, size_t b, size_t a)
{
    size_t first, count = count_pairs(picture, a, b, &first);
    return count == first;
}

/* Does the axis vary by itself, and are its values not one place at once? */
static bool is_free(const Picture *picture, size_t axis)
{
    bool sample = axis == AXIS_SEED || axis == AXIS_INPUT || axis == AXIS_MAX_BITS ||
                  (axis == AXIS_DEPTH && filled(picture, MEASURE_LAYER) > 1);
    return picture->places[axis] == PLACE_SPAN && !sample;
}

/* The axes that vary by themselves become PLACE_SPAN, for the time being; the rest is fixed. */
static void find_varying(Picture *picture)
{
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        bool hangs = filled(picture, axis) < 2;
        for (size_t other = 0; other < axis && !hangs; other++) {
            hangs = is_free(picture, other) && hangs_on(picture, axis, other);
        }
        picture->places[axis] = hangs ? PLACE_FIXED : PLACE_SPAN;
    }
}

/* The free axis with the most values, Omega before others; of numbers, or of anything.
 * MEASURE_AXES: there is none. */
static size_t longest(const Picture *picture, bool numeric)
{
    size_t best = MEASURE_AXES;
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        size_t most = best < MEASURE_AXES ? filled(picture, best) : 0,
               count = filled(picture, axis);
        bool more = count > most || (count == most && axis == AXIS_OMEGA);
        if (is_free(picture, axis) && more && (!numeric || picture->data->axes[axis].numeric)) {
            best = axis;
        }
    }
    return best;
}

/* Along x: the axis that is wished, else a number, else words, if only of the construction. */
static int place_x(Picture *picture)
{
    const char *names[MEASURE_AXES], *wish = picture->wish.x;
    size_t count = 0, x = longest(picture, true);
    x = x < MEASURE_AXES ? x : longest(picture, false);
    x = x < MEASURE_AXES ? x : AXIS_CONSTRUCTION;
    bool known = wish == NULL;
    for (size_t axis = 0; axis < MEASURE_FILE && !known; axis++) {
        if (filled(picture, axis) > 1) {
            names[count++] = measure_axis_name(axis);
            known = strcmp(measure_axis_name(axis), wish) == 0;
            x = axis;
        }
    }
    picture->x.axis = x;
    picture->places[x] = PLACE_X;
    picture->categories = !picture->data->axes[x].numeric;
    return known ? 0
                 : complain_unknown((Origin){.flag = "x"}, wish, "an axis that varies in the table",
                                    names, count, count);
}

/* The picture is of the axis's most frequent value, blanks apart. */
static void place_one(Picture *picture, size_t axis)
{
    const Measures *data = picture->data;
    size_t *counts = picture->scratch, best = 0;
    memset(counts, 0, data->axes[axis].count * sizeof *counts);
    for (size_t row = 0; row < data->rows; row++) {
        counts[data->values[row][axis]] += !measures_is_blank(data, row, axis);
    }
    for (size_t i = 0; i < data->axes[axis].count; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    picture->places[axis] = PLACE_ONE;
    picture->one[axis] = best;
}

/* Up the picture, or its curves: the longest number that makes a grid with x.  What does not was
 * swept by itself: the picture is of the value that it mostly has. */
static void place_y(Picture *picture)
{
    size_t most = picture->data->searched ? SERIES_MOST : SIZE_MAX; /* intervals side by side */
    picture->y.axis = picture->column = MEASURE_AXES;
    for (size_t axis;
         picture->y.axis == MEASURE_AXES && (axis = longest(picture, true)) != MEASURE_AXES;) {
        if (is_grid(picture, axis) && filled(picture, axis) <= most) {
            picture->y.axis = axis;
            picture->places[axis] = PLACE_Y;
        } else {
            place_one(picture, axis);
        }
    }
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        bool grid = axis == AXIS_CONSTRUCTION || axis == MEASURE_FILE || !is_free(picture, axis) ||
                    is_grid(picture, axis);
        if (!grid) {
            place_one(picture, axis);
        }
    }
}

/* ---- Panels ---------------------------------------------------------------------------------- */

bool places_draw(const Picture *picture, size_t row)
{
    const Measures *data = picture->data;
    bool drawn = !measures_is_blank(data, row, picture->x.axis);
    for (size_t axis = 0; axis < MEASURE_AXES && drawn; axis++) {
        drawn = picture->places[axis] != PLACE_ONE ||
                data->values[row][axis] == picture->one[axis] || measures_is_blank(data, row, axis);
    }
    return drawn;
}

/* The order of the panels of two rows: those that differ in the axis of columns alone are beside
 * each other. */
static int compare_panels(const Picture *picture, size_t a, size_t b)
{
    const size_t *x = picture->data->values[a], *y = picture->data->values[b];
    size_t column = picture->column;
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        if (picture->places[axis] == PLACE_PANEL && axis != column && x[axis] != y[axis]) {
            return x[axis] > y[axis] ? 1 : -1;
        }
    }
    return column == MEASURE_AXES ? 0 : (x[column] > y[column]) - (x[column] < y[column]);
}

size_t places_panel(const Picture *picture, size_t row)
{
    size_t panel = 0;
    while (panel < picture->panel_count &&
           compare_panels(picture, row, picture->panel_row[panel]) != 0) {
        panel++;
    }
    return panel;
}

/* Makes the panels, in order; false: there are too many. */
static bool make_panels(Picture *picture)
{
    size_t *panels = picture->panel_row;
    picture->panel_count = 0;
    for (size_t row = 0; row < picture->data->rows; row++) {
        size_t at = picture->panel_count;
        if (!places_draw(picture, row) || places_panel(picture, row) < at) {
            continue;
        }
        if (at == PANELS_MOST) {
            return false;
        }
        for (; at > 0 && compare_panels(picture, panels[at - 1], row) > 0; at--) {
            panels[at] = panels[at - 1];
        }
        panels[at] = row;
        picture->panel_count++;
    }
    return true;
}

/* A panel a value of what is left, as long as there are few.  By two axes or more they lie in rows
 * and columns, where all of their pairs are there: columns are of the axis with the most values
 * that fit beside each other. */
static void place_panels(Picture *picture)
{
    size_t count = 1, columns = 0, all = 1;
    for (size_t axis = 0; axis < MEASURE_AXES; axis++) {
        if (is_free(picture, axis)) {
            picture->places[axis] = PLACE_PANEL;
            bool few = make_panels(picture), more = few && picture->panel_count > count;
            picture->places[axis] = more ? PLACE_PANEL : few ? PLACE_FIXED : PLACE_SPAN;
            count = few ? picture->panel_count : count;
        }
        size_t values = picture->places[axis] == PLACE_PANEL ? filled(picture, axis) : 1;
        all *= values;
        if (values > 1 && values > columns && values <= PANEL_COLUMNS) {
            picture->column = axis;
            columns = values;
        }
    }
    (void)make_panels(picture); /* as many as the last time that they were few */
    picture->columns = all == picture->panel_count && columns < all ? columns : 0;
}

int places_find(Picture *picture)
{
    picture->scratch = need_zeros(picture->data->rows + 1, sizeof *picture->scratch);
    find_varying(picture);
    int status = place_x(picture);
    if (status != 0) {
        return status;
    }
    place_y(picture);
    place_panels(picture);
    return 0;
}
