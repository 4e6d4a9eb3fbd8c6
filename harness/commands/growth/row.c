/*
 * Rows of laws.
 */
#include <stdio.h>

#include "row.h"

#include "../../table/bounds.h"
#include "../../table/columns.h"
#include "../plot/searched.h"

#include <math.h>
#include <string.h>

static const char tail[] =
    ",norm,kind,axis,law,why,from,to,points,seeds,censored,constant,slope,slope_error,end_slope,"
    "residual,residual_max,other_residual,seeds_below,seeds_above,theory_least,theory_most,theory,"
    "at,seed,low_log10,predicted_log10,high_log10,measured_log10," BOUNDS_COLUMN ",status\n";

bool held_fits(const Held *held)
{
    double size = held->measured->log10;
    return size >= held->band.low && (size <= held->band.high || held->measured->bound);
}

/* The axes of the key: but the seed, those with a column, and then those in `options`. */
static bool is_key(size_t axis)
{
    return axis != AXIS_SEED && axis_info((Axis)axis)->column != NULL;
}

int growth_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        if (is_key(axis)) {
            fprintf(file, "%s,", axis_info((Axis)axis)->column);
        }
    }
    return fputs(OPTIONS_COLUMN, file) == EOF || fputs(tail, file) == EOF ? -1 : 0;
}

/* What the rows of a series have of an axis: NULL where they differ in it, or may. */
static const char *shared(const Series *series, size_t axis)
{
    const char *text = plot_text(series->data, series->row, axis);
    uint64_t differ = series_free_axes(series->data, series->axis);
    bool scaled =
        axis == AXIS_D_FF && (differ >> AXIS_D & 1) != 0 && series->data->axes[axis].filled > 1;
    return (differ >> axis & 1) != 0 || scaled ? NULL : text;
}

static void write_key(FILE *file, const Series *series)
{
    bool any = false;
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        if (is_key(axis)) {
            const char *text = shared(series, axis);
            fprintf(file, "%s,", text != NULL ? text : "");
        }
    }
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        char standard[VALUE_TEXT];
        const AxisInfo *info = axis_info((Axis)axis);
        const char *text = shared(series, axis);
        value_print(standard, &info->domain, info->standard);
        if (info->column == NULL && text != NULL && strcmp(text, standard) != 0) {
            fprintf(file, "%s%s=%s", any ? ";" : "", info->name, text);
            any = true;
        }
    }
}

/* What grows: an error, or of searches the Omega that they found. */
static const char *what_grows(const Series *series)
{
    const char *omega = (int)series->kind == SEARCH_MIN ? "omega_min" : "omega_proven";
    return series->data->searched ? omega : axis_info(AXIS_JUDGE)->domain.words[series->kind];
}

static const char *norm_of(const Series *series)
{
    return series->data->searched ? "" : axis_info(AXIS_NORM)->domain.words[series->data->norm];
}

static void write_number(FILE *file, double value)
{
    if (isnan(value)) {
        fputc(',', file);
    } else {
        fprintf(file, ",%.12g", value);
    }
}

static void write_law(FILE *file, const Series *series, const Law *law)
{
    bool line = law_has_line(law);
    const double numbers[] = {fit_constant(&law->fit),
                              law->fit.slope[law->term],
                              fit_slope_error(&law->fit, law_noise(law), law->term),
                              law->end.slope[0],
                              fit_residual(&law->fit),
                              law->fit.worst,
                              law->other,
                              law->below,
                              law->above};
    static const char *const words[] = {"below", "agrees", "above"};
    Theory theory = {NAN, NAN};
    bool expected = line && law_theory(&theory, series, law->kind);
    fprintf(file, ",%s,%s,%.12g,%.12g,%zu,%zu,%zu", law_name(law->kind), law->why, law->from,
            law->to, law->points, law->seeds, series->censored);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        write_number(file, line ? numbers[i] : NAN);
    }
    write_number(file, expected ? theory.least : NAN);
    write_number(file, expected ? theory.most : NAN);
    fprintf(file, ",%s", expected ? words[law_parts(law, &theory) + 1] : "");
}

static void write_held(FILE *file, const Law *law, const Held *held)
{
    const char *status = law->kind == LAW_NONE ? "none" : "ok";
    if (held == NULL) {
        fprintf(file, ",,,,,,,,%s\n", status);
        return;
    }
    bool bound = held->measured != NULL && held->measured->bound;
    write_number(file, held->x);
    fprintf(file, ",%s", held->seed);
    write_number(file, held->band.low);
    write_number(file, held->band.middle);
    write_number(file, held->band.high);
    write_number(file, held->measured != NULL ? held->measured->log10 : NAN);
    status = held->measured != NULL && !held_fits(held) ? "fail" : "ok";
    fprintf(file, ",%s,%s\n", bound ? "measured_log10" : "", status);
}

int growth_write_row(FILE *file, const void *row)
{
    const LawRow *own = row;
    const Series *series = own->series;
    write_key(file, series);
    fprintf(file, ",%s,%s,%s", norm_of(series), what_grows(series), plot_axis_name(series->axis));
    write_law(file, series, own->law);
    write_held(file, own->law, own->held);
    return ferror(file) ? -1 : 0;
}

/* ---- A terminal ------------------------------------------------------------------------------ */

void growth_print_series(FILE *file, const Series *series)
{
    const char *norm = norm_of(series);
    bool any = false;
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        const char *text = shared(series, axis);
        bool several = series->data->axes[axis].filled > 1;
        if (text != NULL && *text != '\0' && (axis == AXIS_CONSTRUCTION || several)) {
            bool numeric = series->data->axes[axis].numeric;
            fprintf(file, "%s%s%s%s", any ? ", " : "", numeric ? plot_axis_name(axis) : "",
                    numeric ? "=" : "", text);
            any = true;
        }
    }
    fprintf(file, ": %s%s%s along %s", what_grows(series), *norm != '\0' ? " " : "", norm,
            plot_axis_name(series->axis));
}

static void print_law(FILE *file, const char *axis, const Law *law)
{
    double slope = law->fit.slope[law->term], constant = fit_constant(&law->fit);
    switch (law->kind) {
    case LAW_POWER:
    case LAW_ARM_RIGHT: fprintf(file, "10^%.2f %s^%.3f", constant, axis, slope); break;
    case LAW_EXPONENTIAL:
    case LAW_ARM_LEFT: fprintf(file, "10^%.2f e^(%.4g %s)", constant, slope, axis); break;
    case LAW_FLOOR: fprintf(file, "10^%.2f", constant); break;
    case LAW_LOGARITHM: fprintf(file, "%.4g + %.3f ln %s", constant, slope, axis); break;
    case LAW_LINEAR: fprintf(file, "%.4g + %.3g %s", constant, slope, axis); break;
    case LAW_ZERO: fputs("0, proven", file); break;
    case LAW_NONE:
    case LAW_COUNT: fprintf(file, "no law (%s)", law->why); return;
    }
    if (law->fit.terms > 0) {
        fprintf(file, " (+- %.2g)", fit_slope_error(&law->fit, law_noise(law), law->term));
    }
}

void growth_print(FILE *file, const void *row)
{
    const LawRow *own = row;
    const Series *series = own->series;
    const Law *law = own->law;
    Theory theory;
    growth_print_series(file, series);
    fprintf(file, " %g to %g: ", law->from, law->to);
    print_law(file, plot_axis_name(series->axis), law);
    if (law_has_line(law)) {
        fprintf(file, ", off by %.2g at most", law->fit.worst);
    }
    if (law_has_line(law) && law_theory(&theory, series, law->kind) &&
        law_parts(law, &theory) != 0) {
        fprintf(file, "; theory: %g to %g", theory.least, theory.most);
    }
    if (own->held != NULL) {
        const Held *held = own->held;
        fprintf(file, "; at %g 10^%.2f (10^%.2f to 10^%.2f)", held->x, held->band.middle,
                held->band.low, held->band.high);
    }
    fprintf(file, "; %zu points", law->points);
    if (series->censored > 0) {
        fprintf(file, ", %zu cells censored", series->censored);
    }
    fputc('\n', file);
}
