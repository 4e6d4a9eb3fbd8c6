/*
 * What is drawn of tables: the errors in each place of each panel, and their scale.
 */
#include "picture.h"

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
/* It reaches to a tolerance that is so near, in powers of ten. */
#define TOLERANCE_NEAR 4.0
/* How far crosses are above it, as a part of it. */
#define CROSSES_ABOVE 0.08

/* ---- Orders and cells ------------------------------------------------------------------------ */

/* The values of an axis that are drawn, order [count], and at[value], their places in it; without
 * an axis there is one place. */
typedef struct {
    size_t *order, *at, count;
} Order;

static int make_order(Order *made, const Picture *picture, size_t axis)
{
    const PlotData *data = picture->data;
    size_t most = axis == PLOT_AXES ? 1 : data->axes[axis].count;
    made->order = calloc(most + 1, sizeof *made->order);
    made->at = calloc(most + 1, sizeof *made->at);
    made->count = axis == PLOT_AXES;
    if (made->order == NULL || made->at == NULL) {
        return memory_fault();
    }
    for (size_t row = 0; axis != PLOT_AXES && row < data->rows; row++) {
        made->at[data->values[row][axis]] |= places_draw(picture, row);
    }
    for (size_t i = 0; axis != PLOT_AXES && i < most; i++) {
        if (made->at[i] != 0) {
            made->at[i] = made->count;
            made->order[made->count++] = i;
        }
    }
    return 0;
}

/* A row in its place. */
typedef struct {
    size_t place, row;
} Drawn;

static int compare_drawn(const void *a, const void *b)
{
    const Drawn *x = a, *y = b;
    return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
                                : (x->row > y->row) - (x->row < y->row);
}

static int compare_cells(const void *a, const void *b)
{
    const PlotCell *x = a, *y = b;
    return x->log10 != y->log10 ? (x->log10 > y->log10) - (x->log10 < y->log10)
                                : x->bound - y->bound;
}

/* What the rows [count] of one place come to; room: for as many cells. */
static void fill_place(Picture *picture, const Drawn *drawn, size_t count, PlotCell *room)
{
    const PlotData *data = picture->data;
    PlotCell *cells = picture->cells[drawn->place];
    picture->several = picture->several || count > 1;
    for (size_t i = 0; i < count && data->searched; i++) {
        searched_join(cells, data->cells[drawn[i].row]);
    }
    for (ErrorKind kind = 0; kind < ERROR_KINDS && !data->searched; kind++) {
        size_t known = 0;
        for (size_t i = 0; i < count; i++) {
            room[known] = data->cells[drawn[i].row][kind];
            known += isnan(room[known].log10) ? 0 : 1;
        }
        if (known > 0) {
            qsort(room, known, sizeof *room, compare_cells);
            double low = room[(known - 1) / 2].log10, high = room[known / 2].log10;
            bool between = isfinite(low) && isfinite(high);
            cells[kind] = room[known - 1];
            cells[kind].least = room[0].log10;
            cells[kind].median = between ? (low + high) / 2 : isinf(low) ? low : high;
        }
    }
}

static size_t place_of(const Picture *picture, size_t panel, size_t y, size_t x)
{
    return (panel * picture->y_count + y) * picture->x_count + x;
}

static int fill_places(Picture *picture, const size_t *x_at, const size_t *y_at)
{
    const PlotData *data = picture->data;
    Drawn *drawn = calloc(data->rows + 1, sizeof *drawn);
    PlotCell *room = calloc(data->rows + 1, sizeof *room);
    size_t count = 0;
    bool fits = drawn != NULL && room != NULL;
    for (size_t row = 0; row < data->rows && fits; row++) {
        picture->undrawn += plot_is_blank(data, row, picture->x);
        if (places_draw(picture, row)) {
            const size_t *values = data->values[row];
            size_t y = picture->y == PLOT_AXES ? 0 : y_at[values[picture->y]];
            size_t panel = places_panel(picture, row), x = x_at[values[picture->x]];
            drawn[count++] = (Drawn){place_of(picture, panel, y, x), row};
        }
    }
    if (count > 0) {
        qsort(drawn, count, sizeof *drawn, compare_drawn);
    }
    for (size_t first = 0, next; first < count; first = next) {
        next = first;
        while (next < count && drawn[next].place == drawn[first].place) {
            next++;
        }
        fill_place(picture, &drawn[first], next - first, room);
    }
    free(drawn);
    free(room);
    return fits ? 0 : memory_fault();
}

static int make_cells(Picture *picture)
{
    Order x = {0}, y = {0};
    int status = make_order(&x, picture, picture->x);
    status = status != 0 ? status : make_order(&y, picture, picture->y);
    picture->x_order = x.order;
    picture->x_count = x.count;
    picture->y_order = y.order;
    picture->y_count = y.count;
    size_t count = place_of(picture, picture->panel_count, 0, 0);
    picture->cells = calloc(count + 1, sizeof *picture->cells);
    status = status == 0 && picture->cells == NULL ? memory_fault() : status;
    for (size_t i = 0; i < count * ERROR_KINDS && status == 0; i++) {
        PlotCell *cell = &picture->cells[i / ERROR_KINDS][i % ERROR_KINDS];
        cell->log10 = cell->least = cell->median = NAN;
    }
    status = status != 0 ? status : fill_places(picture, x.at, y.at);
    free(x.at);
    free(y.at);
    return status;
}

bool picture_is_point(const Picture *picture)
{
    return place_of(picture, picture->panel_count, 0, 0) == 1;
}

const PlotCell *picture_cell(const Picture *picture, size_t panel, size_t y, size_t x)
{
    return picture->cells[place_of(picture, panel, y, x)];
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

bool picture_has(const Picture *picture, ErrorKind kind)
{
    size_t count = place_of(picture, picture->panel_count, 0, 0), i = 0;
    while (i < count && !isfinite(picture->cells[i][kind].log10)) {
        i++;
    }
    return i < count;
}

bool picture_shows(const Picture *picture, ErrorKind kind)
{
    size_t i = 0;
    while (i < picture->curve_count && picture->curves[i].kind != kind) {
        i++;
    }
    return i < picture->curve_count;
}

/* What a curve takes of the scale; *low: of that alone. */
static void take_curve(Picture *picture, const Curve *curve, double *low)
{
    for (size_t i = 0; i < picture->panel_count * picture->x_count; i++) {
        size_t panel = i / picture->x_count, x = i % picture->x_count;
        const PlotCell *cell = &picture_cell(picture, panel, curve->y, x)[curve->kind];
        const double values[] = {cell->log10, cell->median, cell->least};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            *low = isfinite(values[k]) ? fmin(*low, values[k]) : *low;
            picture->high = isfinite(values[k]) ? fmax(picture->high, values[k]) : picture->high;
        }
        picture->top = cell->log10 == INFINITY ? INFINITY : picture->top;
    }
}

/* The logarithms that the scale has room for: all of the machine's errors, and what the others have
 * above them; without the machine, all.  It reaches to a tolerance that is near. */
static int find_scale(Picture *picture)
{
    double machine = INFINITY, all = INFINITY;
    picture->high = -INFINITY;
    for (size_t i = 0; i < picture->curve_count; i++) {
        bool is_machine = picture->curves[i].kind >= ERROR_ROUNDING;
        take_curve(picture, &picture->curves[i], is_machine ? &machine : &all);
    }
    all = fmin(all, machine);
    if (!isfinite(picture->high)) {
        return complain((Origin){0}, plot_text(picture->data, 0, PLOT_FILE),
                        "expected a finite error above 0 in a row that is drawn");
    }
    picture->low = isfinite(machine) ? fmax(all, machine - BELOW_MACHINE) : all;
    if (fabs(picture->tolerance - picture->low) < TOLERANCE_NEAR) {
        picture->low = fmin(picture->low, picture->tolerance - 0.5);
    }
    if (fabs(picture->tolerance - picture->high) < TOLERANCE_NEAR) {
        picture->high = fmax(picture->high, picture->tolerance + 0.5);
    }
    if (picture->high - picture->low < SCALE_LEAST) {
        picture->high = ceil(picture->high + 0.2);
        picture->low = fmin(picture->high - SCALE_LEAST, floor(picture->low));
    }
    double room = picture->top == INFINITY ? CROSSES_ABOVE * (picture->high - picture->low) : 0;
    picture->top = picture->high + room;
    return 0;
}

/* The one word that all rows have of an axis, or "". */
static const char *one_word(const PlotData *data, size_t axis)
{
    return data->axes[axis].count == 1 ? data->axes[axis].texts[0] : "";
}

/* The error that is judged: as the user asks, or as the rows say, or one that is there. */
static void find_judged(Picture *picture)
{
    const PictureWish *wish = &picture->wish;
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
    } else if (!picture_has(picture, picture->main)) { /* no reference, or no machine */
        picture->main = picture_has(picture, ERROR_OBSERVED) ? ERROR_OBSERVED : ERROR_CONSTRUCTION;
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
    picture->wish = *wish;
    picture->tolerance = NAN;
    int status = places_find(picture, wish->x);
    status = status != 0 ? status : make_cells(picture);
    if (status != 0) {
        return status;
    }
    picture->kind = choose_kind(picture);
    picture->wish.laws = wish->laws && !picture->categories && picture->kind != PICTURE_HEAT;
    if (!data->searched) {
        find_judged(picture);
    }
    status = curves_find(picture);
    return status != 0 ? status : data->searched ? searched_scale(picture) : find_scale(picture);
}

void picture_clear(Picture *picture)
{
    free(picture->scratch);
    free(picture->x_order);
    free(picture->y_order);
    free(picture->cells);
    free(picture->curves);
    *picture = (Picture){0};
}
