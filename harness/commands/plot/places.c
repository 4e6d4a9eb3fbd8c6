/*
 * Where each axis of the rows goes: along the picture, up it, into panels, or nowhere.
 */
#include "picture.h"

#include "../../base/message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two axes are a grid where this share of their pairs is there. */
#define GRID_SHARE 0.6

static size_t filled(const Picture *picture, size_t axis)
{
    return picture->data->axes[axis].filled;
}

/* Is there one value of axis b, blanks apart, for every value of axis a? */
static bool hangs_on(const Picture *picture, size_t b, size_t a)
{
    const PlotData *data = picture->data;
    size_t *first = picture->scratch; /* 1 + the value of b, of every value of a */
    memset(first, 0, data->axes[a].count * sizeof *first);
    for (size_t row = 0; row < data->rows; row++) {
        size_t *seen = &first[data->values[row][a]], value = 1 + data->values[row][b];
        if (!plot_is_blank(data, row, b) && *seen != 0 && *seen != value) {
            return false;
        }
        *seen = plot_is_blank(data, row, b) ? *seen : value;
    }
    return true;
}

/* Has some row most of the pairs of values of x and another axis? */
static bool is_grid(const Picture *picture, size_t axis)
{
    const PlotData *data = picture->data;
    size_t width = data->axes[axis].count, count = 0;
    double pairs = (double)filled(picture, picture->x) * (double)filled(picture, axis);
    if (GRID_SHARE * pairs > (double)data->rows) {
        return false; /* too few rows, whichever pairs they have; else scratch is long enough */
    }
    memset(picture->scratch, 0, data->axes[picture->x].count * width * sizeof *picture->scratch);
    for (size_t row = 0; row < data->rows; row++) {
        const size_t *values = data->values[row];
        if (!plot_is_blank(data, row, picture->x) && !plot_is_blank(data, row, axis)) {
            size_t *there = &picture->scratch[values[picture->x] * width + values[axis]];
            count += *there == 0;
            *there = 1;
        }
    }
    return (double)count >= GRID_SHARE * pairs;
}

/* Axes whose values are one place at once. */
static bool is_sample(const PlotData *data, size_t axis)
{
    return axis == AXIS_SEED || axis == AXIS_INPUT || axis == AXIS_MAX_BITS ||
           (axis == AXIS_DEPTH && data->axes[PLOT_LAYER].filled > 1);
}

/* The axes that vary by themselves become PLACE_SPAN, for the time being; the rest is fixed. */
static void find_varying(Picture *picture)
{
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        bool hangs = filled(picture, axis) < 2;
        for (size_t other = 0; other < axis && !hangs; other++) {
            hangs = picture->places[other] != PLACE_FIXED && !is_sample(picture->data, other) &&
                    hangs_on(picture, axis, other);
        }
        picture->places[axis] = hangs ? PLACE_FIXED : PLACE_SPAN;
    }
}

static bool is_free_number(const Picture *picture, size_t axis)
{
    return picture->places[axis] == PLACE_SPAN && !is_sample(picture->data, axis) &&
           picture->data->axes[axis].numeric;
}

/* The free numeric axis with the most values; PLOT_AXES: none. */
static size_t longest(const Picture *picture)
{
    size_t best = PLOT_AXES;
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        if (is_free_number(picture, axis) &&
            (best == PLOT_AXES || filled(picture, axis) > filled(picture, best) ||
             (filled(picture, axis) == filled(picture, best) && axis == AXIS_OMEGA))) {
            best = axis;
        }
    }
    return best;
}

/* The axis that --x names. */
static int find_wished(Picture *picture, const char *name)
{
    const char *names[PLOT_AXES];
    size_t count = 0;
    for (size_t axis = 0; axis < PLOT_FILE; axis++) {
        if (filled(picture, axis) > 1) {
            names[count++] = plot_axis_name(axis);
            if (strcmp(plot_axis_name(axis), name) == 0) {
                picture->x = axis;
                return 0;
            }
        }
    }
    return complain_unknown((Origin){.flag = "x"}, name, "an axis that varies in the table", names,
                            count, count);
}

/* The picture is of the axis's most frequent value, blanks apart. */
static void place_one(Picture *picture, size_t axis)
{
    const PlotData *data = picture->data;
    size_t *counts = picture->scratch, best = 0;
    memset(counts, 0, data->axes[axis].count * sizeof *counts);
    for (size_t row = 0; row < data->rows; row++) {
        counts[data->values[row][axis]] += !plot_is_blank(data, row, axis);
    }
    for (size_t i = 0; i < data->axes[axis].count; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    picture->places[axis] = PLACE_ONE;
    picture->one[axis] = best;
}

/* Along x; without a number that varies, the words of the construction. */
static int place_x(Picture *picture, const char *wish)
{
    picture->x = longest(picture);
    if (wish != NULL) {
        int status = find_wished(picture, wish);
        if (status != 0) {
            return status;
        }
    } else if (picture->x == PLOT_AXES) {
        picture->x = AXIS_CONSTRUCTION;
        for (size_t axis = 0; axis < PLOT_AXES; axis++) {
            bool more = filled(picture, axis) > filled(picture, picture->x);
            if (picture->places[axis] == PLACE_SPAN && !is_sample(picture->data, axis) && more) {
                picture->x = axis;
            }
        }
    }
    picture->categories = !picture->data->axes[picture->x].numeric;
    picture->places[picture->x] = PLACE_X;
    return 0;
}

/* Up the picture, or its curves: the longest number that makes a grid with x.  Those that do not
 * were swept by themselves: the picture is of the value that they mostly have. */
static void place_y(Picture *picture)
{
    size_t most = picture->data->searched ? SERIES_MOST : SIZE_MAX; /* bars side by side */
    picture->y = PLOT_AXES;
    for (size_t axis = longest(picture); axis != PLOT_AXES && picture->y == PLOT_AXES;
         axis = longest(picture)) {
        if (is_grid(picture, axis) && filled(picture, axis) <= most) {
            picture->y = axis;
            picture->places[axis] = PLACE_Y;
        } else {
            place_one(picture, axis);
        }
    }
}

bool places_draw(const Picture *picture, size_t row)
{
    bool drawn = !plot_is_blank(picture->data, row, picture->x);
    for (size_t axis = 0; axis < PLOT_AXES && drawn; axis++) {
        drawn = picture->places[axis] != PLACE_ONE ||
                picture->data->values[row][axis] == picture->one[axis] ||
                plot_is_blank(picture->data, row, axis);
    }
    return drawn;
}

size_t places_panel(const Picture *picture, size_t row)
{
    const size_t *values = picture->data->values[row];
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        const size_t *others = picture->data->values[picture->panel_row[panel]];
        bool same = true;
        for (size_t axis = 0; axis < PLOT_AXES && same; axis++) {
            same = picture->places[axis] != PLACE_PANEL || values[axis] == others[axis];
        }
        if (same) {
            return panel;
        }
    }
    return picture->panel_count;
}

/* Makes the panels; false: there are too many. */
static bool count_panels(Picture *picture)
{
    picture->panel_count = 0;
    for (size_t row = 0; row < picture->data->rows; row++) {
        if (places_draw(picture, row) && places_panel(picture, row) == picture->panel_count) {
            if (picture->panel_count == PANELS_MOST) {
                return false;
            }
            picture->panel_row[picture->panel_count++] = row;
        }
    }
    return true;
}

/* A panel a value of what is left, as long as there are few.  What was swept by itself, and makes
 * no grid with x, is drawn at its most frequent value. */
static void place_panels(Picture *picture)
{
    size_t count = 1;
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        if (picture->places[axis] == PLACE_SPAN && !is_sample(picture->data, axis) &&
            axis != AXIS_CONSTRUCTION && axis != PLOT_FILE && !is_grid(picture, axis)) {
            place_one(picture, axis);
        }
    }
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        if (picture->places[axis] == PLACE_SPAN && !is_sample(picture->data, axis)) {
            picture->places[axis] = PLACE_PANEL;
            bool few = count_panels(picture);
            picture->places[axis] = !few                           ? PLACE_SPAN
                                    : picture->panel_count > count ? PLACE_PANEL
                                                                   : PLACE_FIXED;
            count = few ? picture->panel_count : count;
        }
    }
    (void)count_panels(picture); /* as many as the last time that they were few */
}

/* ---- Rows and columns ------------------------------------------------------------------------ */

/* The values of an axis that panels have. */
static size_t count_values(const Picture *picture, size_t axis)
{
    size_t count = 0;
    for (size_t panel = 0; panel < picture->panel_count; panel++) {
        size_t before = 0, value = picture->data->values[picture->panel_row[panel]][axis];
        while (picture->data->values[picture->panel_row[before]][axis] != value) {
            before++;
        }
        count += before == panel;
    }
    return count;
}

/* Are two panels, by a row of each, in the same row of panels; and is the first behind the
 * other? */
typedef struct {
    bool level, behind;
} Order;

/* of: the axis of columns, or PLOT_AXES. */
static Order compare_panels(const Picture *picture, size_t a, size_t b, size_t of)
{
    const size_t *x = picture->data->values[a], *y = picture->data->values[b];
    Order order = {true, of != PLOT_AXES && x[of] > y[of]};
    for (size_t axis = 0; axis < PLOT_AXES && order.level; axis++) {
        if (picture->places[axis] == PLACE_PANEL && axis != of && x[axis] != y[axis]) {
            order = (Order){false, x[axis] > y[axis]};
        }
    }
    return order;
}

/* Panels by two axes or more lie in rows and columns, where all of their pairs are there: columns
 * are of the axis with the most values that fit beside each other, rows of the others. */
static void place_grid(Picture *picture)
{
    size_t axes = 0, of = PLOT_AXES, columns = 0, rows = 1, *row = picture->panel_row;
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        bool panels = picture->places[axis] == PLACE_PANEL;
        size_t values = panels ? count_values(picture, axis) : 0;
        axes += panels;
        of = values > columns && values <= PANEL_COLUMNS ? axis : of;
        columns = of == axis ? values : columns;
    }
    if (axes < 2) {
        return;
    }
    for (size_t panel = 1; panel < picture->panel_count; panel++) {
        size_t at = panel, moved = row[panel];
        for (; at > 0 && compare_panels(picture, row[at - 1], moved, of).behind; at--) {
            row[at] = row[at - 1];
        }
        row[at] = moved;
    }
    for (size_t panel = 1; panel < picture->panel_count; panel++) {
        rows += !compare_panels(picture, row[panel - 1], row[panel], of).level;
    }
    picture->columns = rows * columns == picture->panel_count ? columns : 0;
}

int places_find(Picture *picture, const char *x)
{
    picture->scratch = calloc(4 * picture->data->rows + 4, sizeof *picture->scratch);
    if (picture->scratch == NULL) {
        return memory_fault();
    }
    find_varying(picture);
    int status = place_x(picture, x);
    if (status != 0) {
        return status;
    }
    place_y(picture);
    place_panels(picture);
    place_grid(picture);
    return 0;
}
