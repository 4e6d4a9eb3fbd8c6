/*
 * Intervals of Omega from the rows of min-omega.
 */
#include "searched.h"

#include "../../base/message.h"
#include "../../base/number.h"
#include "../../table/columns.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scale has so much beyond the ends that are known, in powers of ten or as a share of what is
 * between, and is so long. */
#define BEYOND 0.3
#define BEYOND_SHARE 0.03
#define SCALE_LEAST 2.0
/* Ends that are so many powers of ten from 1 are where a machine's numbers end. */
#define FAR 30
static_assert((int)SEARCH_CELLS <= (int)ERROR_KINDS, "a row has room for them");

bool searched_is(const Csv *csv)
{
    static const char *const needed[] = {"construction", "omega_below", "omega_min",
                                         "omega_max",    "omega_above", "omega_best"};
    bool all = true;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        all = all && csv_find(csv, needed[i]) < csv->columns;
    }
    return all && csv_find(csv, column_name(COLUMN_STATUS)) < csv->columns;
}

static const char *cell_named(const Csv *csv, size_t row, const char *name)
{
    return csv_cell(csv, row, csv_find(csv, name));
}

bool searched_any(const Csv *csv)
{
    bool any = false;
    for (size_t row = 0; row < csv->rows && !any && searched_is(csv); row++) {
        any = *cell_named(csv, row, "omega_min") != '\0' &&
              *cell_named(csv, row, "omega_max") != '\0';
    }
    return any;
}

/* A number above 0 that a double holds. */
static bool is_omega(const Number *number, const char *text)
{
    double value = strtod(text, NULL);
    return number->kind == NUMBER_FINITE && number->digits != 0 && value > 0 && isfinite(value);
}

/* An Omega, or blank. */
static int take_omega(PlotCell *cell, const Csv *csv, size_t row, const char *name)
{
    const char *text = cell_named(csv, row, name);
    Number number;
    bool known = number_read(&number, text) && !number.negative;
    if (!known || (number.kind != NUMBER_BLANK && !is_omega(&number, text))) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected an omega in the column %s", name);
    }
    *cell = plot_cell_of(&number);
    return 0;
}

int searched_take(PlotCell cells[ERROR_KINDS], const Csv *csv, size_t row)
{
    for (size_t i = 0; i < ERROR_KINDS; i++) {
        cells[i] = (PlotCell){.log10 = NAN};
    }
    int status = take_omega(&cells[SEARCH_MIN], csv, row, "omega_min");
    status = status != 0 ? status : take_omega(&cells[SEARCH_MAX], csv, row, "omega_max");
    status = status != 0 ? status : take_omega(&cells[SEARCH_BEST], csv, row, "omega_best");
    size_t proven = csv_find(csv, "omega_proven"); /* which may be none */
    if (status == 0 && proven < csv->columns && strcmp(csv_cell(csv, row, proven), "none") != 0) {
        status = take_omega(&cells[SEARCH_PROVEN], csv, row, "omega_proven");
    }
    cells[SEARCH_MIN].bound = *cell_named(csv, row, "omega_below") == '\0';
    cells[SEARCH_MAX].bound = *cell_named(csv, row, "omega_above") == '\0';
    bool found = !isnan(cells[SEARCH_MIN].log10) && !isnan(cells[SEARCH_MAX].log10);
    cells[SEARCH_NONE].log10 = found ? 0 : 1;
    if (status == 0 && found && cells[SEARCH_MIN].log10 > cells[SEARCH_MAX].log10) {
        status = complain((Origin){.file = csv->path, .line = csv_line(row)},
                          cell_named(csv, row, "omega_max"), "expected omega_min or more");
    }
    return status;
}

void searched_join(PlotCell cells[ERROR_KINDS], const PlotCell other[ERROR_KINDS])
{
    if (isnan(cells[SEARCH_NONE].log10)) {
        memcpy(cells, other, ERROR_KINDS * sizeof *cells);
        return;
    }
    bool found = cells[SEARCH_NONE].log10 < 0.5 && other[SEARCH_NONE].log10 < 0.5;
    if (other[SEARCH_MIN].log10 > cells[SEARCH_MIN].log10) {
        cells[SEARCH_MIN] = other[SEARCH_MIN];
    }
    if (other[SEARCH_MAX].log10 < cells[SEARCH_MAX].log10) {
        cells[SEARCH_MAX] = other[SEARCH_MAX];
    }
    cells[SEARCH_BEST].log10 = NAN; /* each has its own */
    found = found && cells[SEARCH_MIN].log10 <= cells[SEARCH_MAX].log10;
    cells[SEARCH_NONE].log10 = found ? 0 : 1;
}

/* ---- Of a picture ---------------------------------------------------------------------------- */

bool searched_found(const PlotCell *cells)
{
    return cells[SEARCH_NONE].log10 < 0.5;
}

bool searched_none(const PlotCell *cells)
{
    return cells[SEARCH_NONE].log10 > 0.5;
}

static void widen(Picture *picture, const PlotCell *cells, bool far)
{
    for (int end = SEARCH_MIN; end <= SEARCH_BEST && searched_found(cells); end++) {
        double at = cells[end].log10;
        if (!cells[end].bound && !isnan(at) && (far || fabs(at) < FAR)) {
            picture->low = fmin(picture->low, at);
            picture->high = fmax(picture->high, at);
        }
    }
}

int searched_scale(Picture *picture)
{
    size_t count = picture->panel_count * picture->y_count * picture->x_count, found = 0;
    picture->low = INFINITY;
    picture->high = -INFINITY;
    for (int far = 0; far < 2 && picture->low > picture->high; far++) {
        for (size_t i = 0; i < count; i++) {
            widen(picture, picture->cells[i], far == 1);
            found += searched_found(picture->cells[i]);
        }
    }
    if (found == 0) {
        return complain((Origin){0}, picture->data->axes[PLOT_FILE].texts[0],
                        "expected a search that found an omega, in a row that is drawn");
    }
    bool known = picture->low <= picture->high;
    double middle = known ? (picture->low + picture->high) / 2 : SCALE_LEAST / 2;
    double between = known ? picture->high - picture->low : 0;
    double half = fmax(between / 2 + fmax(BEYOND, BEYOND_SHARE * between), SCALE_LEAST / 2);
    /* An Omega is a double, and so are the ends that are printed. */
    picture->low = fmax(middle - half, log10(DBL_TRUE_MIN));
    picture->high = picture->top = fmin(middle + half, nextafter(log10(DBL_MAX), 0));
    return 0;
}

bool searched_goes_on(const Picture *picture, const PlotCell *cells, int end)
{
    double at = cells[end].log10;
    return cells[end].bound || (end == SEARCH_MIN ? at < picture->low : at > picture->high);
}

void searched_print(char *text, size_t size, const PlotCell *cells)
{
    char ends[2][16];
    bool down = cells[SEARCH_MIN].bound, up = cells[SEARCH_MAX].bound;
    for (int i = 0; i < 2; i++) {
        PlotCell end = cells[i == 0 ? SEARCH_MIN : SEARCH_MAX];
        snprintf(ends[i], sizeof ends[i], "%.3g", end.mantissa * pow(10, (double)end.exponent));
    }
    if (!searched_found(cells)) {
        snprintf(text, size, "%s", searched_none(cells) ? "none" : "-");
    } else if (down && up) {
        snprintf(text, size, "all tried");
    } else if (up) {
        snprintf(text, size, "%s up", ends[0]);
    } else {
        snprintf(text, size, "%s%s%s", down ? "" : ends[0], down ? "to " : " to ", ends[1]);
    }
}

SearchedSigns searched_signs(const Picture *picture)
{
    size_t count = picture->panel_count * picture->y_count * picture->x_count;
    SearchedSigns signs = {0};
    for (size_t i = 0; i < count; i++) {
        const PlotCell *cells = picture->cells[i];
        bool found = searched_found(cells);
        signs.none = signs.none || searched_none(cells);
        signs.best = signs.best || (found && !isnan(cells[SEARCH_BEST].log10));
        signs.open = signs.open || (found && (searched_goes_on(picture, cells, SEARCH_MIN) ||
                                              searched_goes_on(picture, cells, SEARCH_MAX)));
    }
    return signs;
}
