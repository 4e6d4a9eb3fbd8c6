/*
 * Laws along an axis.
 */
#include "law.h"

#include <math.h>
#include <string.h>

/* A slope agrees with theory within so many standard errors, and a tenth. */
#define THEORY_ERRORS 3.0
#define THEORY_SHARE 0.1

const char *law_name(LawKind kind)
{
    static const char *const names[LAW_COUNT] = {[LAW_POWER] = "power",
                                                 [LAW_EXPONENTIAL] = "exponential",
                                                 [LAW_ARM_LEFT] = "arm-left",
                                                 [LAW_FLOOR] = "floor",
                                                 [LAW_ARM_RIGHT] = "arm-right",
                                                 [LAW_ZERO] = "zero",
                                                 [LAW_LOGARITHM] = "logarithm",
                                                 [LAW_LINEAR] = "linear",
                                                 [LAW_NONE] = "none"};
    return names[kind];
}

double law_u(LawKind kind, double x)
{
    return kind == LAW_EXPONENTIAL || kind == LAW_ARM_LEFT ? x * log10(exp(1)) : log10(x);
}

double law_noise(const Law *law)
{
    return fmax(fit_residual(&law->fit), law->noise);
}

/* Sizes differ, so that there always is one. */
static Fit fit_kind(LawKind kind, const double *u, const double *y, size_t count)
{
    Fit fit;
    (void)fit_find(&fit, &u, y, count, kind == LAW_FLOOR ? 0 : 1);
    return fit;
}

bool law_has_line(const Law *law)
{
    return law->kind < LAW_ZERO;
}

/* The standard error of a median of normal values is sqrt(pi / 2) times that of their mean. */
double law_seed_noise(const GrowthPoint *points, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += points[i].values > 0 ? points[i].variance / (double)points[i].values : 0;
    }
    return sqrt(acos(-1) / 2 * sum / (double)count);
}

Law law_fit(LawKind kind, const GrowthPoint *points, size_t count, double *room)
{
    Law law = law_without_line(kind, "", points, count);
    double *u = room, *y = u + count, *below = y + count, *above = below + count;
    for (size_t i = 0; i < count; i++) {
        u[i] = law_u(kind, points[i].x);
        y[i] = points[i].median;
        below[i] = points[i].median - points[i].smallest;
        above[i] = points[i].largest - points[i].median;
        law.below = fmax(law.below, below[i]);
        law.above = fmax(law.above, above[i]);
    }
    size_t half = (count + 1) / 2 > LAW_POINTS ? (count + 1) / 2 : LAW_POINTS;
    law.fit = fit_kind(kind, u, y, count);
    law.end = fit_kind(kind, u + count - half, y + count - half, half);
    law.below_line = fit_kind(kind, u, below, count);
    law.above_line = fit_kind(kind, u, above, count);
    law.noise = law_seed_noise(points, count);
    return law;
}

Law law_without_line(LawKind kind, const char *why, const GrowthPoint *points, size_t count)
{
    Law law = {.kind = kind, .why = why, .points = count, .other = NAN};
    law.from = points[0].x;
    law.to = points[count - 1].x;
    for (size_t i = 0; i < count; i++) {
        law.seeds = points[i].seeds > law.seeds ? points[i].seeds : law.seeds;
    }
    return law;
}

/* ---- Theory ---------------------------------------------------------------------------------- */

/* Where leaks come from the other N - 1 tokens alone. */
static bool leaks_from_others(const Series *series)
{
    static const char *const names[] = {"silu", "linear", "fused", "ffn3"};
    const char *name = plot_text(series->data, series->row, AXIS_CONSTRUCTION);
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        is = is || strcmp(name, names[i]) == 0;
    }
    return is;
}

/* Does each layer of a stack add 1/sqrt(2 depth) times as much, as `stable` weights do? */
static bool shares_depth(const Series *series)
{
    const char *name = plot_text(series->data, series->row, AXIS_CONSTRUCTION);
    const char *weights = plot_text(series->data, series->row, AXIS_WEIGHTS);
    return series->axis == AXIS_DEPTH && strcmp(weights, "stable") == 0 &&
           strcmp(name, "linear") != 0 && strcmp(name, "silu") != 0;
}

/* Along the layers what is added is independent, or all of one sign. */
bool law_theory(Theory *theory, const Series *series, LawKind kind)
{
    bool searched = series->data->searched;
    double shrink = series_number(series->data, series->row, AXIS_SHRINK);
    bool layers = series->axis == AXIS_DEPTH || series->axis == PLOT_LAYER;
    if (series->axis == AXIS_OMEGA && (kind == LAW_ARM_LEFT || kind == LAW_ARM_RIGHT)) {
        theory->least = theory->most = kind == LAW_ARM_LEFT ? -2 * shrink : 1;
        return true;
    }
    bool leaks = !searched && series->kind == ERROR_CONSTRUCTION && kind == LAW_POWER;
    if (series->axis == AXIS_N && (searched || leaks)) {
        theory->least = theory->most = searched ? 0.5 / shrink : 1;
        return leaks_from_others(series);
    }
    *theory = shares_depth(series) ? (Theory){0, 0.5} : (Theory){0.5, 1};
    return layers && !searched && series->data->norm == NORM_REL &&
           series->kind != ERROR_APPROXIMATION && (kind == LAW_POWER || kind == LAW_EXPONENTIAL);
}

int law_parts(const Law *law, const Theory *theory)
{
    double room = THEORY_ERRORS * fit_slope_error(&law->fit, law_noise(law), law->term) +
                  THEORY_SHARE * fabs(theory->most);
    bool exponential = law->kind == LAW_EXPONENTIAL; /* faster than any power, or slower */
    double slope = exponential ? copysign(INFINITY, law->fit.slope[0]) : law->fit.slope[law->term];
    return slope < theory->least - room ? -1 : slope > theory->most + room;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* The law and what its seeds differ by, to both sides: as far as anywhere, or as they would there
 * if that grows; beside that its standard error and what it changes by when the smaller half of the
 * points is left out. */
static Band predict(const Law *law, double x)
{
    double u = law_u(law->kind, x), middle = fit_at(&law->fit, &u);
    double error = fit_student(law->fit.freedom) * fit_error_at(&law->fit, law_noise(law), &u);
    double bend = fit_at(&law->end, &u) - middle;
    double room = sqrt(error * error + bend * bend);
    double below = fmax(law->below, fit_at(&law->below_line, &u));
    double above = fmax(law->above, fit_at(&law->above_line, &u));
    return (Band){middle - room - below, middle, middle + room + above};
}

const Law *laws_predict(Band *band, const Laws *laws, double x)
{
    const Law *most = NULL;
    for (size_t i = 0; i < laws->count; i++) {
        const Law *law = &laws->laws[i];
        if (law->kind == LAW_NONE) {
            continue;
        }
        Band zero = {-INFINITY, -INFINITY, -INFINITY};
        Band own = law_has_line(law) ? predict(law, x) : zero;
        if (most == NULL || own.middle > band->middle) {
            *band = own;
            most = law;
        }
    }
    return most;
}
