/*
 * Intervals of Omega from the rows of min-omega.
 */
#include "measures.h"

#include "../base/message.h"
#include "columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)SEARCH_CELLS <= (int)ERROR_KINDS, "a row has room for them");

bool searched_is(const Csv *csv)
{
    static const char *const needed[] = {"construction", "omega_below", "omega_min",
                                         "omega_max",    "omega_above", "omega_best"};
    bool all = csv_find(csv, column_name(COLUMN_STATUS)) < csv->columns;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        all = all && csv_find(csv, needed[i]) < csv->columns;
    }
    return all;
}

bool searched_any(const Csv *csv)
{
    bool any = false;
    for (size_t row = 0; row < csv->rows && !any && searched_is(csv); row++) {
        any = *measures_column(csv, row, "omega_min") != '\0' &&
              *measures_column(csv, row, "omega_max") != '\0';
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
static int take_omega(Measure *cell, const Csv *csv, size_t row, const char *name)
{
    const char *text = measures_column(csv, row, name);
    Number number;
    bool known = number_read(&number, text) && !number.negative;
    if (!known || (number.kind != NUMBER_BLANK && !is_omega(&number, text))) {
        return complain((Origin){.file = csv->path, .line = csv_line(row)}, text,
                        "expected an omega in the column %s", name);
    }
    *cell = measure_of(&number);
    return 0;
}

int searched_take(Measure cells[ERROR_KINDS], const Csv *csv, size_t row)
{
    static const char *const names[] = {
        [SEARCH_MIN] = "omega_min", [SEARCH_MAX] = "omega_max", [SEARCH_BEST] = "omega_best"};
    int status = 0;
    for (size_t i = 0; i < ERROR_KINDS && status == 0; i++) {
        cells[i] = (Measure){.log10 = NAN};
        status = i <= SEARCH_BEST ? take_omega(&cells[i], csv, row, names[i]) : 0;
    }
    size_t proven = csv_find(csv, "omega_proven"); /* which may be none */
    if (status == 0 && proven < csv->columns && strcmp(csv_cell(csv, row, proven), "none") != 0) {
        status = take_omega(&cells[SEARCH_PROVEN], csv, row, "omega_proven");
    }
    cells[SEARCH_MIN].bound = *measures_column(csv, row, "omega_below") == '\0';
    cells[SEARCH_MAX].bound = *measures_column(csv, row, "omega_above") == '\0';
    bool found = !isnan(cells[SEARCH_MIN].log10) && !isnan(cells[SEARCH_MAX].log10);
    cells[SEARCH_NONE].log10 = found ? 0 : 1;
    if (status == 0 && found && cells[SEARCH_MIN].log10 > cells[SEARCH_MAX].log10) {
        status = complain((Origin){.file = csv->path, .line = csv_line(row)},
                          measures_column(csv, row, "omega_max"), "expected omega_min or more");
    }
    return status;
}
