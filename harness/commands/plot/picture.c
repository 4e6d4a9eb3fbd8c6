/*
 * What is drawn of tables: the errors in each place of each panel, and their scale.
 */
#include "picture.h"

#include "places.h"
#include "searched.h"

#include "../../base/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From so many values on, two axes are drawn as a heat map. */
enum { HEAT_LEAST = 4 };
/* The scale's room below the smallest error of the machine, in powers of ten. */
#define BELOW_MACHINE 2.0
#define SCALE_LEAST 3.0

/* ---- Orders and cells ------------------------------------------------------------------------ */

/* order [*count] = the values of an axis that are drawn, and at[value] = their places in it;
 * without an axis there is one place. */
static int make_order(size_t **order, size_t **at, size_t *count, const Picture *picture,
                      size_t axis)
{
    const PlotData *data = picture->data;
    size_t most = axis == PLOT_AXES ? 1 : data->axes[axis].count;
    *order = calloc(most + 1, sizeof **order);
    *at = calloc(most + 1, sizeof **at);
    *count = axis == PLOT_AXES;
    if (*order == NULL || *at == NULL) {
        return memory_fault();
    }
    for (size_t row = 0; axis != PLOT_AXES && row < data->rows; row++) {
        (*at)[data->values[row][axis]] |= places_draw(picture, row);
    }
    for (size_t i = 0; axis != PLOT_AXES && i < most; i++) {
        if ((*at)[i] != 0) {
            (*at)[i] = *count;
            (*order)[(*count)++] = i;
        }
    }
    return 0;
}

static void take_largest(PlotCell *cell, PlotCell other)
{
    if (isnan(cell->log10) || other.log10 > cell->log10 ||
        (other.log10 == cell->log10 && other.bound)) {
        *cell = isnan(other.log10) ? *cell : other;
    }
}

static PlotCell *cell_at(const Picture *picture, size_t panel, size_t y, size_t x)
{
    return picture->cells[(panel * picture->y_count + y) * picture->x_count + x];
}

static void fill_cells(Picture *picture, const size_t *x_at, const size_t *y_at)
{
    const PlotData *data = picture->data;
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    for (size_t i = 0; i < count * ERROR_KINDS; i++) {
        picture->cells[i / ERROR_KINDS][i % ERROR_KINDS].log10 = NAN;
    }
    for (size_t row = 0; row < data->rows; row++) {
        picture->undrawn += plot_is_blank(data, row, picture->x);
        if (places_draw(picture, row)) {
            const size_t *values = data->values[row];
            size_t y = picture->y == PLOT_AXES ? 0 : y_at[values[picture->y]];
            PlotCell *cells =
                cell_at(picture, places_panel(picture, row), y, x_at[values[picture->x]]);
            if (data->searched) {
                searched_join(cells, data->cells[row]);
            }
            for (ErrorKind kind = 0; kind < ERROR_KINDS && !data->searched; kind++) {
                take_largest(&cells[kind], data->cells[row][kind]);
            }
        }
    }
}

static int make_cells(Picture *picture)
{
    size_t *x_at = NULL, *y_at = NULL;
    int status = make_order(&picture->x_order, &x_at, &picture->x_count, picture, picture->x);
    status = status != 0
                 ? status
                 : make_order(&picture->y_order, &y_at, &picture->y_count, picture, picture->y);
    if (status == 0) {
        picture->cells = calloc(picture->panel_count * picture->y_count,
                                picture->x_count * sizeof *picture->cells);
        status = picture->cells == NULL ? memory_fault() : 0;
    }
    if (status == 0) {
        fill_cells(picture, x_at, y_at);
    }
    free(x_at);
    free(y_at);
    return status;
}

const PlotCell *picture_cell(const Picture *picture, size_t panel, size_t y, size_t x)
{
    return cell_at(picture, panel, y, x);
}

const char *picture_x_text(const Picture *picture, size_t x)
{
    return picture->data->axes[picture->x].texts[picture->x_order[x]];
}

const char *picture_y_text(const Picture *picture, size_t y)
{
    return picture->y == PLOT_AXES ? ""
                                   : picture->data->axes[picture->y].texts[picture->y_order[y]];
}

/* ---- Scales ---------------------------------------------------------------------------------- */

/* The smallest and the largest logarithm drawn of an error; false: there is none. */
static bool find_range(const Picture *picture, ErrorKind kind, double *low, double *high)
{
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        double value = picture->cells[i][kind].log10;
        if (isfinite(value)) {
            *low = found ? fmin(*low, value) : value;
            *high = found ? fmax(*high, value) : value;
            found = true;
        }
    }
    return found;
}

bool picture_shows(const Picture *picture, ErrorKind kind)
{
    double low, high;
    bool among =
        kind == picture->main || (!picture->only_main && kind != ERROR_OBSERVED &&
                                  (picture->kind == PICTURE_ERRORS || kind == ERROR_NATIVE ||
                                   (kind == ERROR_CONSTRUCTION && picture->main == ERROR_TOTAL)));
    return among && find_range(picture, kind, &low, &high);
}

/* The logarithms that the scale has room for: all of the machine's errors, and what the others have
 * above them; without the machine, all. */
static int find_scale(Picture *picture)
{
    double machine = INFINITY, all = INFINITY, low, high;
    picture->high = -INFINITY;
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        if (picture_shows(picture, kind) && find_range(picture, kind, &low, &high)) {
            bool is_machine = kind >= ERROR_ROUNDING;
            machine = is_machine ? fmin(machine, low) : machine;
            all = fmin(all, low);
            picture->high = fmax(picture->high, high);
        }
    }
    if (!isfinite(picture->high)) {
        return complain((Origin){0}, plot_text(picture->data, 0, PLOT_FILE),
                        "expected an error above 0 in a row that is drawn");
    }
    picture->low = isfinite(machine) ? fmax(all, machine - BELOW_MACHINE) : all;
    if (picture->high - picture->low < SCALE_LEAST) {
        picture->high = ceil(picture->high + 0.2);
        picture->low = fmin(picture->high - SCALE_LEAST, floor(picture->low));
    }
    return 0;
}

/* The one word that all rows have of an axis, or "". */
static const char *one_word(const PlotData *data, size_t axis)
{
    return data->axes[axis].count == 1 ? data->axes[axis].texts[0] : "";
}

/* The error that is judged: as the user asks, or as the rows say, or one that is there. */
static void find_judged(Picture *picture, const PictureWish *wish)
{
    double low, high;
    const char *tolerance = one_word(picture->data, AXIS_TOLERANCE);
    const char *judge = one_word(picture->data, AXIS_JUDGE);
    bool judged = *tolerance != '\0' && strcmp(tolerance, "none") != 0;
    picture->main = ERROR_TOTAL;
    for (ErrorKind kind = 0; judged && kind < ERROR_KINDS; kind++) {
        bool named = strcmp(judge, axis_info(AXIS_JUDGE)->domain.words[kind]) == 0;
        picture->main = named ? kind : picture->main;
    }
    if (wish->error >= 0) {
        picture->main = (ErrorKind)wish->error;
        picture->only_main = true;
    } else if (!find_range(picture, picture->main, &low, &high)) {
        bool machine = find_range(picture, ERROR_OBSERVED, &low, &high); /* and no reference */
        picture->main = machine ? ERROR_OBSERVED : ERROR_CONSTRUCTION;
    }
    picture->tolerance = !isnan(wish->tolerance) ? wish->tolerance
                         : judged                ? log10(strtod(tolerance, NULL))
                                                 : NAN;
}

bool picture_meets(const Picture *picture, size_t panel, size_t *first, size_t *last)
{
    size_t best = 0, run = 0;
    for (size_t x = 0; x < picture->x_count && !isnan(picture->tolerance); x++) {
        double error = picture_cell(picture, panel, 0, x)[picture->main].log10;
        run = error <= picture->tolerance ? run + 1 : 0;
        if (run > best) {
            best = run;
            *last = x;
            *first = x + 1 - run;
        }
    }
    return best > 0;
}

/* Curves as long as there are few. */
static PictureKind choose_kind(const Picture *picture)
{
    bool usual = picture->x == AXIS_OMEGA || picture->x == PLOT_LAYER || picture->y == AXIS_OMEGA ||
                 picture->y == PLOT_LAYER;
    if (picture->data->searched) {
        return PICTURE_BARS;
    }
    if (picture->y == PLOT_AXES) {
        return PICTURE_ERRORS;
    }
    return picture->y_count > SERIES_MOST || (!usual && picture->y_count >= HEAT_LEAST)
               ? PICTURE_HEAT
               : PICTURE_SERIES;
}

int picture_make(Picture *picture, const PlotData *data, const PictureWish *wish)
{
    picture->data = data;
    picture->tolerance = NAN;
    int status = places_find(picture, wish->x);
    status = status != 0 ? status : make_cells(picture);
    if (status != 0) {
        return status;
    }
    picture->kind = choose_kind(picture);
    if (picture->kind == PICTURE_BARS) {
        return searched_scale(picture);
    }
    picture->laws = wish->laws && !picture->categories && picture->kind != PICTURE_HEAT;
    find_judged(picture, wish);
    return find_scale(picture);
}

void picture_clear(Picture *picture)
{
    free(picture->scratch);
    free(picture->x_order);
    free(picture->y_order);
    free(picture->cells);
    *picture = (Picture){0};
}
