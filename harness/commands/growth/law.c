/*
 * What a law says: of theory, and of sizes that were not fitted.
 */
#include "law.h"

#include <math.h>
#include <string.h>

/* A slope agrees with theory within so many standard errors, and a tenth. */
#define THEORY_ERRORS 3.0
#define THEORY_SHARE 0.1

bool law_has_line(const Law *law)
{
    return law->kind < LAW_ZERO;
}

static Fit fit_line(const Law *law, const GrowthPoint *points, size_t count, size_t terms, size_t y)
{
    Fit fit = {.kind = law->kind, .count = count, .terms = law->kind == LAW_FLOOR ? 0 : terms};
    fit.kind = fit_find(&fit, points, y) ? law->kind : LAW_NONE;
    return fit;
}

/* Points with the smallest size of a term come first: so many. */
static size_t put_smallest_first(GrowthPoint *points, size_t count, size_t term, double smallest)
{
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        if (points[i].x[term] == smallest) {
            GrowthPoint point = points[i];
            points[i] = points[first];
            points[first++] = point;
        }
    }
    return first;
}

Law law_make(LawKind kind, const char *why, GrowthPoint *points, size_t count, size_t terms)
{
    Law law = {.kind = kind, .why = why, .points = count, .other = NAN};
    const size_t half = (count + 1) / 2 > LAW_POINTS ? (count + 1) / 2 : LAW_POINTS;
    const bool line = law_has_line(&law), formula = kind == LAW_LOGARITHM || kind == LAW_LINEAR;
    for (size_t i = 0; i < count; i++) {
        law.seeds = points[i].seeds > law.seeds ? points[i].seeds : law.seeds;
        law.below = fmax(law.below, points[i].y[BELOW]);
        law.above = fmax(law.above, points[i].y[ABOVE]);
    }
    if (line) {
        law.fit = fit_line(&law, points, count, terms, MEDIAN);
        law.below_line = fit_line(&law, points, count, terms, BELOW);
        law.above_line = fit_line(&law, points, count, terms, ABOVE);
    }
    for (size_t k = 0; k < terms; k++) {
        law.from[k] = law.to[k] = points[0].x[k];
        for (size_t i = 0; i < count; i++) {
            law.from[k] = fmin(law.from[k], points[i].x[k]);
            law.to[k] = fmax(law.to[k], points[i].x[k]);
        }
        for (size_t i = 0; i < count; i++) {
            law.told[k] |= points[i].x[k] > law.from[k] && points[i].x[k] < law.to[k];
        }
        size_t out = formula ? put_smallest_first(points, count, k, law.from[k]) : count - half;
        law.ends[k] = line ? fit_line(&law, points + out, count - out, terms, MEDIAN) : law.fit;
    }
    law.ends[FIT_MOST].kind = LAW_NONE;
    return law;
}

/* ---- Theory ---------------------------------------------------------------------------------- */

static bool is_of(const Series *series, size_t axis, const char *word)
{
    return strcmp(plot_text(series->data, series->rows[0].row, axis), word) == 0;
}

/* Leaks of four constructions come from the other N - 1 tokens alone.  Along the layers what is
 * added is independent, or all of one sign; each layer of a stack adds 1/sqrt(2 depth) times as
 * much, as `stable` weights do, but for those of two constructions. */
bool law_theory(Theory *theory, const Series *series, const Law *law, size_t term)
{
    const size_t axis = series->axes[term];
    const bool searched = series->data->searched, power = law->kind == LAW_POWER;
    const bool bare =
        is_of(series, AXIS_CONSTRUCTION, "linear") || is_of(series, AXIS_CONSTRUCTION, "silu");
    const bool leaks = bare || is_of(series, AXIS_CONSTRUCTION, "fused") ||
                       is_of(series, AXIS_CONSTRUCTION, "ffn3");
    const bool shares = axis == AXIS_DEPTH && !bare && is_of(series, AXIS_WEIGHTS, "stable");
    double shrink = series_number(series->data, series->rows[0].row, AXIS_SHRINK);
    *theory = (Theory){0};
    if (law->kind == LAW_ARM_LEFT || law->kind == LAW_ARM_RIGHT) {
        theory->least = theory->most = law->kind == LAW_ARM_LEFT ? -2 * shrink : 1;
    } else if (searched && axis == AXIS_N && leaks && law_has_line(law) && law->told[term]) {
        theory->least = theory->most = 0.5 / shrink;
    } else if (axis == AXIS_N && leaks && power && series->kind == ERROR_CONSTRUCTION) {
        theory->least = theory->most = 1;
    } else if ((power || law->kind == LAW_EXPONENTIAL) &&
               (axis == AXIS_DEPTH || axis == PLOT_LAYER) && series->data->norm == NORM_REL &&
               series->kind != ERROR_APPROXIMATION) {
        *theory = shares ? (Theory){0, 0.5, 0} : (Theory){0.5, 1, 0};
    } else {
        return false;
    }
    double room = THEORY_ERRORS * fit_slope_error(&law->fit, term);
    room += THEORY_SHARE * fabs(theory->most);
    double slope = law->fit.slope[term]; /* an exponential is faster than any power, or slower */
    slope = law->kind == LAW_EXPONENTIAL ? copysign(INFINITY, slope) : slope;
    theory->parts = slope < theory->least - room ? -1 : slope > theory->most + room;
    return true;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* The law and what its seeds differ by, to both sides: as far as anywhere, or as they would there
 * if that grows; beside that its standard error and what it changes by when the smaller half of the
 * points is left out, or in its other form. */
static Band predict(const Law *law, const double *x)
{
    double middle = fit_at(&law->fit, x), squares = 0;
    double error = fit_student(law->fit.freedom) * fit_error_at(&law->fit, x);
    for (size_t k = 0; k <= FIT_MOST; k++) {
        double bend = law->ends[k].count > 0 ? fit_at(&law->ends[k], x) - middle : 0;
        squares += law->ends[k].kind != LAW_NONE ? bend * bend : 0;
    }
    double room = sqrt(error * error + squares);
    double below = fmax(law->below, fit_at(&law->below_line, x));
    double above = fmax(law->above, fit_at(&law->above_line, x));
    Band band = {middle - room - below, middle, middle + room + above};
    bool omega = law->kind == LAW_LOGARITHM || law->kind == LAW_LINEAR;
    return omega ? (Band){log10(fmax(band.low, 0)), log10(fmax(middle, 0)), log10(band.high)}
                 : band;
}

/* Does it say anything of x?  Not beyond sizes of which there are two. */
static bool is_told(const Law *law, const double *x)
{
    bool told = law->kind != LAW_NONE;
    for (size_t k = 0; k < law->fit.terms; k++) {
        told = told && (law->told[k] || (x[k] >= law->from[k] && x[k] <= law->to[k]));
    }
    return told;
}

const Law *laws_predict(Band *band, const Laws *laws, const double *x)
{
    const Law *most = NULL;
    for (size_t i = 0; i < laws->count; i++) {
        const Law *law = &laws->laws[i];
        Band zero = {-INFINITY, -INFINITY, -INFINITY};
        Band own = law_has_line(law) ? predict(law, x) : zero;
        if (is_told(law, x) && (most == NULL || own.middle > band->middle)) {
            *band = own;
            most = law;
        }
    }
    return most;
}
