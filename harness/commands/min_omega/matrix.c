/*
 * The matrix of searches: which axes vary, which tolerances there are, and a cell for each pair.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_snprintf */

#include "search.h"

#include "../../../memory/need.h"
#include "../../base/decimal.h"
#include "../../base/terminal.h"
#include "../../base/text_stream.h"
#include "../../evaluate/omega_print.h"
#include "../../point/point.h"
#include "../../table/format.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    Search *const *searches;
    size_t count;
    double *tolerances; /* [tolerance_count], as they come */
    size_t tolerance_count;
    bool varies[AXIS_COUNT];
} Matrix;

static const Point *point_of(const Search *search)
{
    return search->seeds.points[0];
}

/* The same but for the tolerance? */
static bool same_row(const Search *a, const Search *b)
{
    Point c = *point_of(b);
    c.tolerance = point_of(a)->tolerance;
    return point_compare(point_of(a), &c) == 0;
}

static void find_tolerances(Matrix *matrix)
{
    for (size_t i = 0; i < matrix->count; i++) {
        double tolerance = point_of(matrix->searches[i])->tolerance;
        size_t t = 0;
        while (t < matrix->tolerance_count && matrix->tolerances[t] != tolerance) {
            t++;
        }
        if (t == matrix->tolerance_count) {
            matrix->tolerances[matrix->tolerance_count++] = tolerance;
        }
    }
}

static void find_axes(Matrix *matrix)
{
    bool over_tau = point_of(matrix->searches[0])->over_tau;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        bool sought = axis == AXIS_TOLERANCE || (over_tau && axis == AXIS_TAU);
        AxisValue first = point_get(point_of(matrix->searches[0]), axis);
        for (size_t i = 1; !sought && i < matrix->count; i++) {
            AxisValue value = point_get(point_of(matrix->searches[i]), axis);
            matrix->varies[axis] = matrix->varies[axis] || value_compare(&first, &value) != 0;
        }
    }
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
static void put_row(FILE *file, const Matrix *matrix, const Search *first, const char *what,
                    void (*put)(FILE *file, const Search *search))
{
    char value[VALUE_TEXT];
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (matrix->varies[axis]) {
            bool matters = point_axis_matters(point_of(first), axis);
            value_print(value, &axis_info(axis)->domain, point_get(point_of(first), axis));
            fprintf(file, "%s,", matters ? value : "");
        }
    }
    fputs(what, file);
    for (size_t t = 0; t < matrix->tolerance_count; t++) {
        fputc(',', file);
        for (size_t i = 0; i < matrix->count; i++) {
            const Search *search = matrix->searches[i];
            if (same_row(first, search) && point_of(search)->tolerance == matrix->tolerances[t]) {
                put(file, search);
            }
        }
    }
    fputc('\n', file);
}

/* The header, then what was found, and what is proven, of each row. */
static void put_lines(FILE *file, const Matrix *matrix)
{
    char text[DECIMAL_TEXT];
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (matrix->varies[axis]) {
            fprintf(file, "%s,", axis_info(axis)->name);
        }
    }
    fputs(point_of(matrix->searches[0])->over_tau ? "tau" : "omega", file);
    for (size_t t = 0; t < matrix->tolerance_count; t++) {
        decimal_print(text, matrix->tolerances[t]);
        fprintf(file, ",within %s", text);
    }
    fputc('\n', file);
    for (size_t i = 0; i < matrix->count; i++) {
        const Search *search = matrix->searches[i];
        size_t first = 0; /* of the row */
        while (!same_row(matrix->searches[first], search)) {
            first++;
        }
        if (first == i) {
            put_row(file, matrix, search, "found", put_found);
        }
        if (first == i && search->proven > 0) {
            put_row(file, matrix, search, "proven", put_proven);
        }
    }
}

int matrix_print(FILE *file, Search *const *searches, size_t count)
{
    Matrix matrix = {searches, count, need_zeros(count, sizeof(double)), 0, {false}};
    char *lines = NULL;
    size_t size = 0;
    Wrapped said;
    FILE *stream = text_stream(&lines, &size);
    find_tolerances(&matrix);
    find_axes(&matrix);
    put_lines(stream, &matrix);
    (void)text_close(stream, &lines);
    FormatTable table = {.format = &format_table, .file = wrapped_open(&said, file), .whole = true};
    int status = format_take(&table, lines);
    status = status != 0 ? status : format_end(&table);
    format_clear(&table);
    if (count > 0 && point_of(searches[0])->over_tau) {
        fputs("found: every power of two within an interval was evaluated as tau and meets the "
              "tolerance; the nearest outside do not\n",
              said.file);
    } else {
        fputs("found: every omega evaluated within an interval meets the tolerance, the nearest "
              "outside do not; between two evaluated omegas nothing is proven\n",
              said.file);
    }
    if (count > 0 && searches[0]->proven > 0) {
        fputs("proven: for every input, in exact arithmetic, compared with an infinite omega\n",
              said.file);
    }
    wrapped_close(&said);
    free(lines);
    free(matrix.tolerances);
    return status;
}
