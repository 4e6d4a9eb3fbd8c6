/*
 * The contents of a picture: a summary of the rows in each place of each panel, and their scale.
 */
#include "picture.h"

#include "../../../memory/need.h"
#include "../../base/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The scale's room below the smallest error of the machine, in powers of ten; its length; how near
 * a tolerance is that it reaches to. */
#define BELOW_MACHINE 2.0
#define SCALE_LEAST 3.0
#define TOLERANCE_NEAR 4.0
/* The room beyond the ends of intervals; how far crosses are above the scale, as a part of it. */
#define BEYOND 0.3
#define CROSSES_ABOVE 0.08
/* Omegas so many powers of ten from 1 are where a machine's numbers end. */
#define FAR 30

/* ---- Places ---------------------------------------------------------------------------------- */

size_t picture_places(const Picture *picture)
{
    return picture->panel_count * picture->y.count * picture->x.count;
}

bool picture_is_point(const Picture *picture)
{
    return picture_places(picture) == 1;
}

const Spot *picture_spot(const Picture *picture, size_t panel, const Curve *curve, size_t x)
{
    return &picture
                ->spots[(panel * picture->y.count + curve->y) * picture->x.count + x][curve->kind];
}

const char *picture_text(const Picture *picture, const Side *side, size_t place)
{
    bool none = side->axis == MEASURE_AXES;
    return none ? "" : picture->data->axes[side->axis].texts[side->first + place];
}

static int compare_cells(const void *a, const void *b)
{
    const Measure *x = a, *y = b;
    return x->log10 != y->log10 ? (x->log10 > y->log10) - (x->log10 < y->log10)
                                : x->bound - y->bound;
}

/* The spot of errors [count], which are sorted. */
static void take_errors(Spot *spot, Measure *cells, size_t count)
{
    qsort(cells, count, sizeof *cells, compare_cells);
    double low = cells[(count - 1) / 2].log10, high = cells[count / 2].log10;
    bool between = isfinite(low) && isfinite(high);
    spot->most = cells[count - 1];
    spot->least = cells[0].log10;
    spot->median = between ? (low + high) / 2 : isinf(low) ? low : high;
}

/* Of a spot what meets the tolerance in this search, too; first: it is the first one. */
static void take_search(Spot *spot, const Measure *cells, bool first)
{
    const Measure min = cells[SEARCH_MIN], max = cells[SEARCH_MAX];
    bool found = cells[SEARCH_NONE].log10 < 0.5 && !spot->none;
    if (found && (first || min.log10 > spot->least)) {
        spot->least = min.log10;
        spot->below = min.bound || fabs(min.log10) > FAR;
    }
    if (found && (first || max.log10 < spot->most.log10)) {
        spot->most = max;
        spot->above = max.bound || fabs(max.log10) > FAR;
    }
    spot->median = first ? cells[SEARCH_BEST].log10 : NAN; /* each has its own */
    spot->none = !found || spot->least > spot->most.log10;
    spot->there = true;
    if (spot->none) {
        spot->most.log10 = spot->least = spot->median = NAN;
        spot->below = spot->above = false;
    }
}

/* Fills the spots of one place from its rows [count]; drawn: that place times all rows, and the
 * row; room: for as many cells. */
static void fill_place(Picture *picture, const size_t *drawn, size_t count, Measure *room)
{
    const Measures *data = picture->data;
    Spot *spots = picture->spots[*drawn / data->rows];
    picture->several = picture->several || count > 1;
    for (size_t i = 0; i < count && data->searched; i++) {
        take_search(spots, data->cells[drawn[i] % data->rows], i == 0);
    }
    for (ErrorKind kind = 0; kind < ERROR_KINDS && !data->searched; kind++) {
        size_t known = 0;
        for (size_t i = 0; i < count; i++) {
            room[known] = data->cells[drawn[i] % data->rows][kind];
            known += isnan(room[known].log10) ? 0 : 1;
        }
        if (known > 0) {
            take_errors(&spots[kind], room, known);
        }
        spots[kind].there = true;
    }
}

static void fill_places(Picture *picture)
{
    const Measures *data = picture->data;
    const Side *x = &picture->x, *y = &picture->y;
    size_t *drawn = picture->scratch, rows = data->rows;
    Measure *room = need_zeros(rows + 1, sizeof *room);
    size_t count = 0, places = picture_places(picture);
    picture->spots = need_zeros(places + 1, sizeof *picture->spots);
    for (size_t i = 0; i < places * ERROR_KINDS; i++) {
        picture->spots[i / ERROR_KINDS][i % ERROR_KINDS] =
            (Spot){.most.log10 = NAN, .least = NAN, .median = NAN};
    }
    for (size_t row = 0; row < rows; row++) {
        picture->undrawn += measures_is_blank(data, row, x->axis);
        if (places_draw(picture, row)) {
            const size_t *values = data->values[row];
            size_t up = y->axis == MEASURE_AXES ? 0 : values[y->axis];
            size_t line = places_panel(picture, row) * y->count + up;
            drawn[count++] = (line * x->count + values[x->axis] - x->first) * rows + row;
        }
    }
    qsort(drawn, count, sizeof *drawn, places_compare);
    for (size_t first = 0, next = 0; first < count; first = next) {
        while (next < count && drawn[next] / rows == drawn[first] / rows) {
            next++;
        }
        fill_place(picture, &drawn[first], next - first, room);
    }
    free(room);
}

/* ---- Scales ---------------------------------------------------------------------------------- */

bool picture_has(const Picture *picture, ErrorKind kind)
{
    size_t count = picture_places(picture), i = 0;
    while (i < count && !isfinite(picture->spots[i][kind].most.log10)) {
        i++;
    }
    return i < count;
}

bool picture_has_tolerance(const Picture *picture)
{
    return picture->tolerance > picture->low && picture->tolerance < picture->high;
}

/* Widens the scale to hold a curve; *low: its lower end alone. */
static void take_curve(Picture *picture, const Curve *curve, double *low)
{
    for (size_t i = 0; i < picture->panel_count * picture->x.count; i++) {
        const Spot *spot = picture_spot(picture, i / picture->x.count, curve, i % picture->x.count);
        const double values[] = {spot->above ? NAN : spot->most.log10, spot->median,
                                 spot->below ? NAN : spot->least};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            *low = isfinite(values[k]) ? fmin(*low, values[k]) : *low;
            picture->high = isfinite(values[k]) ? fmax(picture->high, values[k]) : picture->high;
        }
        picture->top = spot->most.log10 == INFINITY ? INFINITY : picture->top;
    }
}

/* The logarithms that the scale has room for: all of the machine's errors, and what the others have
 * above them; without the machine, all; the ends of intervals that do not go on.  It reaches to a
 * tolerance that is near. */
static int find_scale(Picture *picture)
{
    const bool searched = picture->data->searched;
    double machine = INFINITY, all = INFINITY, beyond = searched ? BEYOND : 0;
    picture->high = -INFINITY;
    for (size_t i = 0; i < picture->curve_count; i++) {
        bool is_machine = !searched && picture->curves[i].kind >= ERROR_ROUNDING;
        take_curve(picture, &picture->curves[i], is_machine ? &machine : &all);
    }
    if (!isfinite(picture->high) && picture_has(picture, 0) && searched) {
        picture->high = all = 0; /* all are open */
    } else if (!isfinite(picture->high)) {
        return complain((Origin){0}, measures_text(picture->data, 0, MEASURE_FILE),
                        searched ? "expected a search that found an omega, in a row that is drawn"
                                 : "expected a finite error above 0 in a row that is drawn");
    }
    all = fmin(all, machine);
    picture->low = (isfinite(machine) ? fmax(all, machine - BELOW_MACHINE) : all) - beyond;
    picture->high += beyond;
    if (fabs(picture->tolerance - picture->low) < TOLERANCE_NEAR) {
        picture->low = fmin(picture->low, picture->tolerance - 0.5);
    }
    if (fabs(picture->tolerance - picture->high) < TOLERANCE_NEAR) {
        picture->high = fmax(picture->high, picture->tolerance + 0.5);
    }
    picture->high = ceil(picture->high);
    picture->low = floor(picture->low);
    if (picture->high - picture->low < SCALE_LEAST) {
        picture->high += 1;
        picture->low = fmin(picture->high - SCALE_LEAST, picture->low);
    }
    double room = picture->top == INFINITY ? CROSSES_ABOVE * (picture->high - picture->low) : 0;
    picture->top = picture->high + room;
    return 0;
}

/* ---- What is judged -------------------------------------------------------------------------- */

/* The one word that all rows have of an axis, or "". */
static const char *one_word(const Measures *data, size_t axis)
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
        picture->main = strcmp(judge, words_error(kind)) == 0 ? kind : picture->main;
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
    const Curve main = {.kind = picture->main};
    size_t best = 0, run = 0;
    for (size_t x = 0; x < picture->x.count && picture->kind == PICTURE_ERRORS; x++) {
        double error = picture_spot(picture, panel, &main, x)->most.log10;
        run = error <= picture->tolerance ? run + 1 : 0;
        if (run > best) {
            best = run;
            *last = x;
            *first = x + 1 - run;
        }
    }
    return best > 0;
}

int picture_make(Picture *picture, const Measures *data, const PictureWish *wish)
{
    picture->data = data;
    picture->wish = *wish;
    picture->tolerance = NAN;
    int status = places_find(picture);
    if (status == 0) {
        const MeasureAxis *x = &data->axes[picture->x.axis];
        bool one = picture->y.axis == MEASURE_AXES;
        picture->x.count = x->filled;
        picture->x.first = x->count - x->filled;
        picture->y.count = one ? 1 : data->axes[picture->y.axis].count;
        fill_places(picture);
    }
    if (status != 0) {
        return status;
    }
    picture->kind = data->searched                    ? PICTURE_INTERVALS
                    : picture->y.axis == MEASURE_AXES ? PICTURE_ERRORS
                                                      : PICTURE_SERIES;
    picture->wish.laws = wish->laws && !picture->categories;
    if (!data->searched) {
        find_judged(picture);
    }
    curves_find(picture);
    return find_scale(picture);
}

void picture_clear(Picture *picture)
{
    free(picture->scratch);
    free(picture->spots);
    free(picture->curves);
    *picture = (Picture){0};
}
