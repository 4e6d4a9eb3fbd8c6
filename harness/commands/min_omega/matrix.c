/*
 * The matrix of searches: which axes vary, which tolerances there are, and a cell for each pair.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_snprintf */

#include "search.h"

#include "../../base/decimal.h"
#include "../../base/terminal.h"
#include "../../base/text_stream.h"
#include "../../evaluate/omega_print.h"
#include "../../point/point.h"
#include "../../table/format.h"

#include <math.h>
#include <stdlib.h>

static const Point *point_of(const Search *search)
{
    return search->seeds.points[0];
}

static bool same_tolerance(const Search *a, const Search *b)
{
    return point_of(a)->tolerance == point_of(b)->tolerance;
}

/* The same but for the tolerance? */
static bool same_row(const Search *a, const Search *b)
{
    Point c = *point_of(b);
    c.tolerance = point_of(a)->tolerance;
    return point_compare(point_of(a), &c) == 0;
}

/* Is no search before that one like it? */
static bool is_first(Search *const *searches, size_t i, bool like(const Search *, const Search *))
{
    size_t first = 0;
    while (!like(searches[first], searches[i])) {
        first++;
    }
    return first == i;
}

/* Are there two values of it, beside what is sought? */
static bool varies(Axis axis, Search *const *searches, size_t count)
{
    bool sought = axis == AXIS_TOLERANCE || (point_of(searches[0])->over_tau && axis == AXIS_TAU);
    AxisValue first = point_get(point_of(searches[0]), axis);
    bool same = true;
    for (size_t i = 1; !sought && same && i < count; i++) {
        AxisValue value = point_get(point_of(searches[i]), axis);
        same = value_compare(&first, &value) == 0;
    }
    return !same;
}

/* ---- Cells --------------------------------------------------------------------------------- */

/* To 4 digits, up or down; a power of two as such. */
static void put_omega(FILE *file, double omega, bool powers, mpfr_rnd_t direction)
{
    char text[64];
    if (powers) {
        fputs(omega_text(text, omega, powers), file);
        return;
    }
    mpfr_t value;
    mpfr_init2(value, 53);
    mpfr_set_d(value, omega, MPFR_RNDN);
    mpfr_snprintf(text, sizeof text, "%.4R*g", direction, value);
    fputs(text, file);
    mpfr_clear(value);
}

/* "13.6 to 2.09e+06", "13.6 up", "up to 2.09e+06", or "all tried" where no end is known. */
static void put_found(FILE *file, const Search *search)
{
    const OmegaSearch *s = &search->found.search;
    const char *before = s->above != NULL ? "up to " : "all tried";
    if (s->min == NULL) {
        fputs("none", file);
        return;
    }
    if (s->below != NULL) {
        put_omega(file, s->min->omega, s->powers, MPFR_RNDU);
        before = s->above != NULL ? " to " : " up";
    }
    fputs(before, file);
    if (s->above != NULL) {
        put_omega(file, s->max->omega, s->powers, MPFR_RNDD);
    }
}

static void put_proven(FILE *file, const Search *search)
{
    if (search->proven == INFINITY) {
        fputs("none", file);
    } else {
        put_omega(file, search->proven, false, MPFR_RNDU);
        fputs(" up", file);
    }
}

/* ---- Lines --------------------------------------------------------------------------------- */

/* A line: the Omegas found, or proven, at every tolerance in the row of this search. */
static void put_row(FILE *file, Search *const *searches, size_t count, const Search *row,
                    const char *what, void (*put)(FILE *file, const Search *search))
{
    char value[VALUE_TEXT];
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (varies(axis, searches, count)) {
            bool matters = point_axis_matters(point_of(row), axis);
            value_print(value, &axis_info(axis)->domain, point_get(point_of(row), axis));
            fprintf(file, "%s,", matters ? value : "");
        }
    }
    fputs(what, file);
    for (size_t t = 0; t < count; t++) {
        bool column = is_first(searches, t, same_tolerance);
        fputs(column ? "," : "", file);
        for (size_t i = 0; i < count && column; i++) {
            if (same_row(row, searches[i]) && same_tolerance(searches[t], searches[i])) {
                put(file, searches[i]);
            }
        }
    }
    fputc('\n', file);
}

/* The header, then what was found, and what is proven, of each row. */
static void put_lines(FILE *file, Search *const *searches, size_t count)
{
    char text[DECIMAL_TEXT];
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (varies(axis, searches, count)) {
            fprintf(file, "%s,", axis_info(axis)->name);
        }
    }
    fputs(point_of(searches[0])->over_tau ? "tau" : "omega", file);
    for (size_t i = 0; i < count; i++) {
        if (is_first(searches, i, same_tolerance)) {
            decimal_print(text, point_of(searches[i])->tolerance);
            fprintf(file, ",within %s", text);
        }
    }
    fputc('\n', file);
    for (size_t i = 0; i < count; i++) {
        bool first = is_first(searches, i, same_row);
        if (first) {
            put_row(file, searches, count, searches[i], "found", put_found);
        }
        if (first && searches[i]->proven > 0) {
            put_row(file, searches, count, searches[i], "proven", put_proven);
        }
    }
}

int matrix_print(FILE *file, Search *const *searches, size_t count)
{
    char *lines = NULL;
    size_t size = 0;
    Wrapped said;
    FILE *stream = text_stream(&lines, &size);
    put_lines(stream, searches, count);
    (void)text_close(stream, &lines);
    FormatTable table = {.format = &format_table, .file = wrapped_open(&said, file), .whole = true};
    int status = format_take(&table, lines);
    status = status != 0 ? status : format_end(&table);
    format_clear(&table);
    fputs(point_of(searches[0])->over_tau
              ? "found: every power of two within an interval was evaluated as tau and meets the "
                "tolerance; the nearest outside do not\n"
              : "found: every omega evaluated within an interval meets the tolerance, the nearest "
                "outside do not; between two evaluated omegas nothing is proven\n",
          said.file);
    if (searches[0]->proven > 0) {
        fputs("proven: for every input, in exact arithmetic, compared with an infinite omega\n",
              said.file);
    }
    wrapped_close(&said);
    free(lines);
    return status;
}
