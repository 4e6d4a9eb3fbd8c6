/*
 * Where each axis of the rows goes: along the picture, up it, into panels, or nowhere.
 */
#include "places.h"

#include "../../base/message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two axes are a grid where this share of their pairs is there. */
#define GRID_SHARE 0.6

static size_t nonblank(const PlotData *data, size_t axis)
{
    size_t count = 0;
    for (size_t i = 0; i < data->axes[axis].count; i++) {
        count += *data->axes[axis].texts[i] != '\0';
    }
    return count;
}

/* Is there one value of axis b, blanks apart, for every value of axis a? */
static int hangs_on(bool *hangs, const PlotData *data, size_t b, size_t a)
{
    size_t *first = malloc((data->axes[a].count + 1) * sizeof *first);
    if (first == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < data->axes[a].count; i++) {
        first[i] = SIZE_MAX;
    }
    *hangs = true;
    for (size_t row = 0; row < data->rows && *hangs; row++) {
        size_t *seen = &first[data->values[row][a]];
        if (*plot_text(data, row, b) != '\0') {
            *seen = *seen == SIZE_MAX ? data->values[row][b] : *seen;
            *hangs = *seen == data->values[row][b];
        }
    }
    free(first);
    return 0;
}

/* The share of the pairs of values of two axes that some row has; 0 where it is below GRID_SHARE
 * whatever they are. */
static int pairs_share(double *share, const PlotData *data, size_t a, size_t b)
{
    size_t width = data->axes[b].count, count = 0;
    double pairs = (double)nonblank(data, a) * (double)nonblank(data, b);
    *share = 0;
    if (GRID_SHARE * pairs > (double)data->rows) {
        return 0; /* too few rows for a grid, whichever pairs they have */
    }
    bool *there = calloc(data->axes[a].count * width + 1, sizeof *there);
    if (there == NULL) {
        return memory_fault();
    }
    for (size_t row = 0; row < data->rows; row++) {
        bool *cell = &there[data->values[row][a] * width + data->values[row][b]];
        bool both = *plot_text(data, row, a) != '\0' && *plot_text(data, row, b) != '\0';
        count += both && !*cell;
        *cell = *cell || both;
    }
    free(there);
    *share = (double)count / pairs;
    return 0;
}

/* Axes over which the largest error is taken at once. */
static bool is_sample(const PlotData *data, size_t axis)
{
    return axis == AXIS_SEED || axis == AXIS_INPUT || axis == AXIS_MAX_BITS ||
           (axis == AXIS_DEPTH && plot_axis_varies(data, PLOT_LAYER));
}

/* What varies by itself: PLACE_LARGEST, for the time being; the rest is fixed. */
static int find_varying(Picture *picture)
{
    const PlotData *data = picture->data;
    int status = 0;
    for (size_t axis = 0; axis < PLOT_AXES && status == 0; axis++) {
        bool hangs = !plot_axis_varies(data, axis);
        for (size_t other = 0; other < axis && !hangs && status == 0; other++) {
            if (picture->places[other] != PLACE_FIXED && !is_sample(data, other)) {
                status = hangs_on(&hangs, data, axis, other);
            }
        }
        picture->places[axis] = hangs ? PLACE_FIXED : PLACE_LARGEST;
    }
    return status;
}

static bool is_free_number(const Picture *picture, size_t axis)
{
    return picture->places[axis] == PLACE_LARGEST && !is_sample(picture->data, axis) &&
           plot_axis_is_numeric(picture->data, axis);
}

/* The free numeric axis with the most values; PLOT_AXES: none. */
static size_t longest(const Picture *picture)
{
    size_t best = PLOT_AXES;
    for (size_t axis = 0; axis < PLOT_AXES; axis++) {
        if (is_free_number(picture, axis) &&
            (best == PLOT_AXES || nonblank(picture->data, axis) > nonblank(picture->data, best) ||
             (nonblank(picture->data, axis) == nonblank(picture->data, best) &&
              axis == AXIS_OMEGA))) {
            best = axis;
        }
    }
    return best;
}

/* The axis that --x names. */
static int find_wished(Picture *picture, const char *name)
{
    const PlotData *data = picture->data;
    char list[512] = "";
    for (size_t axis = 0, used = 0; axis < PLOT_AXES; axis++) {
        if (plot_axis_varies(data, axis) && axis != PLOT_FILE) {
            if (strcmp(plot_axis_name(axis), name) == 0) {
                picture->x = axis;
                return 0;
            }
            used += used < sizeof list
                        ? (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                           used == 0 ? "" : ", ", plot_axis_name(axis))
                        : 0;
        }
    }
    complain((Origin){.flag = "x"}, name, "expected an axis that varies in the table%s%s",
             *list != '\0' ? ": " : ", and none does", list);
    return 2;
}

/* The most frequent value of an axis, blanks apart. */
static int most_frequent(size_t *value, const PlotData *data, size_t axis)
{
    size_t *counts = calloc(data->axes[axis].count + 1, sizeof *counts), best = 0;
    if (counts == NULL) {
        return memory_fault();
    }
    for (size_t row = 0; row < data->rows; row++) {
        counts[data->values[row][axis]] += *plot_text(data, row, axis) != '\0';
    }
    for (size_t i = 0; i < data->axes[axis].count; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    *value = best;
    free(counts);
    return 0;
}

/* Along x; without a number that varies, the words of the construction. */
static int place_x(Picture *picture, const char *wish)
{
    int status = 0;
    picture->x = longest(picture);
    if (wish != NULL) {
        status = find_wished(picture, wish);
    } else if (picture->x == PLOT_AXES) {
        picture->x = AXIS_CONSTRUCTION;
        for (size_t axis = 0; axis < PLOT_AXES; axis++) {
            bool more = nonblank(picture->data, axis) > nonblank(picture->data, picture->x);
            if (picture->places[axis] == PLACE_LARGEST && !is_sample(picture->data, axis) && more) {
                picture->x = axis;
            }
        }
    }
    picture->categories = status == 0 && !plot_axis_is_numeric(picture->data, picture->x);
    if (status == 0) {
        picture->places[picture->x] = PLACE_X;
    }
    return status;
}

/* Up the picture, or its curves: the longest number that makes a grid with x.  Those that do not
 * were swept by themselves: the picture is of the value that they mostly have. */
static int place_y(Picture *picture)
{
    const PlotData *data = picture->data;
    picture->y = PLOT_AXES;
    int status = 0;
    for (size_t axis = longest(picture); axis != PLOT_AXES && status == 0;
         axis = picture->y == PLOT_AXES ? longest(picture) : PLOT_AXES) {
        double share = 0;
        status = pairs_share(&share, data, picture->x, axis);
        bool few = !data->searched || nonblank(data, axis) <= SERIES_MOST; /* bars side by side */
        if (status == 0 && share >= GRID_SHARE && few) {
            picture->y = axis;
            picture->places[axis] = PLACE_Y;
        } else if (status == 0) {
            picture->places[axis] = PLACE_ONE;
            status = most_frequent(&picture->one[axis], data, axis);
        }
    }
    return status;
}

bool places_draw(const Picture *picture, size_t row)
{
    bool drawn = *plot_text(picture->data, row, picture->x) != '\0';
    for (size_t axis = 0; axis < PLOT_AXES && drawn; axis++) {
        drawn = picture->places[axis] != PLACE_ONE ||
                picture->data->values[row][axis] == picture->one[axis] ||
                *plot_text(picture->data, row, axis) == '\0';
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

/* What was swept by itself, and makes no grid with x, is drawn at its most frequent value. */
static int settle_apart(Picture *picture, size_t axis)
{
    double share = 0;
    int status = pairs_share(&share, picture->data, picture->x, axis);
    if (status == 0 && share < GRID_SHARE && axis != AXIS_CONSTRUCTION && axis != PLOT_FILE) {
        picture->places[axis] = PLACE_ONE;
        status = most_frequent(&picture->one[axis], picture->data, axis);
    }
    return status;
}

/* A panel a value of what is left, as long as there are few. */
static int place_panels(Picture *picture)
{
    size_t count = 1;
    int status = 0;
    for (size_t axis = 0; axis < PLOT_AXES && status == 0; axis++) {
        if (picture->places[axis] == PLACE_LARGEST && !is_sample(picture->data, axis)) {
            status = settle_apart(picture, axis);
        }
    }
    for (size_t axis = 0; axis < PLOT_AXES && status == 0; axis++) {
        if (picture->places[axis] == PLACE_LARGEST && !is_sample(picture->data, axis)) {
            picture->places[axis] = PLACE_PANEL;
            bool few = count_panels(picture);
            picture->places[axis] = !few                           ? PLACE_LARGEST
                                    : picture->panel_count > count ? PLACE_PANEL
                                                                   : PLACE_FIXED;
            count = few ? picture->panel_count : count;
        }
    }
    (void)count_panels(picture); /* as many as the last time that they were few */
    return status;
}

int places_find(Picture *picture, const char *x)
{
    int status = find_varying(picture);
    status = status != 0 ? status : place_x(picture, x);
    status = status != 0 ? status : place_y(picture);
    return status != 0 ? status : place_panels(picture);
}
