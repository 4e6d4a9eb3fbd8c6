/*
 * Predictions of a law for sizes that were not fitted, and theory's of its slope.
 */
#include "law.h"

#include "../../table/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A slope agrees with theory within so many standard errors, and a tenth. */
#define THEORY_ERRORS 3.0
#define THEORY_SHARE 0.1

/* Through those of its points of which a term is above a size. */
static Fit fit_line(const Law *law, const GrowthPoint *points, size_t y, size_t term, double above)
{
    Fit fit = {.kind = law->kind, .terms = law->kind == LAW_FLOOR ? 0 : law->terms, .y = y};
    for (size_t i = 0; i < law->points && law->kind > LAW_ZERO; i++) {
        if (points[i].x[term] > above) {
            fit_add(&fit, &points[i]);
        }
    }
    fit.kind = law->kind > LAW_ZERO && fit_solve(&fit) ? law->kind : LAW_NONE;
    return fit;
}

Law law_make(LawKind kind, const char *why, const GrowthPoint *points, size_t count, size_t terms)
{
    Law law = {.kind = kind, .why = why, .points = count, .terms = terms, .other = NAN};
    const size_t half = (count + 1) / 2 > LAW_POINTS ? (count + 1) / 2 : LAW_POINTS;
    for (size_t i = 0; i < count; i++) {
        law.seeds = points[i].seeds > law.seeds ? points[i].seeds : law.seeds;
        law.below = fmax(law.below, points[i].y[BELOW]);
        law.above = fmax(law.above, points[i].y[ABOVE]);
    }
    law.fit = fit_line(&law, points, MEDIAN, 0, -INFINITY);
    law.below_line = fit_line(&law, points, BELOW, 0, -INFINITY);
    law.above_line = fit_line(&law, points, ABOVE, 0, -INFINITY);
    if (law.fit.kind != LAW_NONE) {
        fit_judge(&law.fit, points);
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
        double above = kind >= LAW_LOGARITHM ? law.from[k]
                       : count > half        ? points[count - half - 1].x[k]
                                             : -INFINITY;
        law.ends[k] = fit_line(&law, points, MEDIAN, k, above);
    }
    return law;
}

/* ---- Theory ---------------------------------------------------------------------------------- */

/* Leaks of four constructions come from the other N - 1 tokens alone.  Along the layers what is
 * added is independent, or all of one sign; each layer of a stack adds 1/sqrt(2 depth) times as
 * much, as `stable` weights do, but for those of two constructions. */
Theory law_theory(const Series *series, const Law *law, size_t term)
{
    Theory theory = {NAN, NAN, ""};
    const size_t axis = series->axes[term];
    const char *construction = series_text(series, AXIS_CONSTRUCTION);
    const bool searched = series->data->searched, power = law->kind == LAW_POWER;
    const bool layers = (axis == AXIS_DEPTH || axis == MEASURE_LAYER) &&
                        series->data->norm == NORM_REL && series->kind != ERROR_APPROXIMATION;
    const bool leaks = axis == AXIS_N && bounds_has("silu;linear;fused;ffn3", construction);
    const bool shares = axis == AXIS_DEPTH && !bounds_has("silu;linear", construction) &&
                        strcmp(series_text(series, AXIS_WEIGHTS), "stable") == 0;
    double shrink = strtod(series_text(series, AXIS_SHRINK), NULL);
    if (law->kind == LAW_ARM_LEFT) {
        theory.least = theory.most = -2 * shrink;
    } else if (law->kind == LAW_ARM_RIGHT ||
               (power && leaks && series->kind == ERROR_CONSTRUCTION)) {
        theory.least = theory.most = 1;
    } else if (searched && leaks && law->kind > LAW_ZERO && law->told[term]) {
        theory.least = theory.most = 0.5 / shrink;
    } else if ((power || law->kind == LAW_EXPONENTIAL) && layers) {
        theory = (Theory){shares ? 0 : 0.5, shares ? 0.5 : 1, ""};
    }
    double room = THEORY_ERRORS * fit_slope_error(&law->fit, term);
    room += THEORY_SHARE * fabs(theory.most);
    double slope = law->fit.slope[term]; /* an exponential is faster than any power, or slower */
    slope = law->kind == LAW_EXPONENTIAL ? copysign(INFINITY, slope) : slope;
    bool below = slope<theory.least - room, above = slope> theory.most + room;
    theory.word = isnan(room) ? "" : below ? "below" : above ? "above" : "agrees";
    return theory;
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
        double bend = law->ends[k].kind != LAW_NONE ? fit_at(&law->ends[k], x) - middle : 0;
        squares += bend * bend;
    }
    double room = sqrt(error * error + squares);
    double below = fmax(law->below, fit_at(&law->below_line, x));
    double above = fmax(law->above, fit_at(&law->above_line, x));
    Band band = {middle - room - below, middle, middle + room + above};
    return law->kind >= LAW_LOGARITHM /* of Omega itself */
               ? (Band){log10(fmax(band.low, 0)), log10(fmax(middle, 0)), log10(band.high)}
               : band;
}

/* Does it say anything of x?  Not beyond sizes of which there are two, or which are a 0 there. */
static bool is_told(const Law *law, const double *x)
{
    bool told = law->kind != LAW_NONE;
    for (size_t k = 0; k < law->terms; k++) {
        told = told && (law->told[k] || (x[k] >= law->from[k] && x[k] <= law->to[k]));
    }
    return told;
}

const Law *laws_predict(Band *band, const Laws *laws, const double *x)
{
    const Law *most = NULL;
    for (size_t i = 0; i < laws->count; i++) {
        const Law *law = &laws->laws[i];
        Band own = law->kind > LAW_ZERO ? predict(law, x) : (Band){-INFINITY, -INFINITY, -INFINITY};
        if (is_told(law, x) && (most == NULL || own.middle > band->middle)) {
            *band = own;
            most = law;
        }
    }
    return most;
}
