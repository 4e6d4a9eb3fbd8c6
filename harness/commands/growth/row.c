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

static const char *const names[LAW_COUNT] = {"power",  "exponential", "arm-left",
                                             "floor",  "arm-right",   "logarithm",
                                             "linear", "zero",        "none"};

/* What the law is along the row's axis: of a formula all terms but the last are logarithms, and of
 * two sizes none can be told. */
static LawKind kind_of(const LawRow *row)
{
    const Law *law = row->law;
    bool first = law->kind == LAW_LINEAR && row->term + 1 < row->series->terms;
    return !law_has_line(law)      ? law->kind
           : !law->told[row->term] ? LAW_NONE
           : first                 ? LAW_LOGARITHM
                                   : law->kind;
}

static const char *why_of(const LawRow *row)
{
    return law_has_line(row->law) && !row->law->told[row->term] ? "few-points" : row->law->why;
}

bool row_fits(const LawRow *row)
{
    const PlotCell *cell = row->measured;
    return cell == NULL ||
           (cell->log10 >= row->band.low && (cell->log10 <= row->band.high || cell->bound));
}

/* What its rows have of an axis: "" where they differ in it, or may, unless it is about a size that
 * one search has. */
static const char *shared(const LawRow *row, size_t axis)
{
    const Series *series = row->series;
    bool own = row->x != NULL && series->data->searched && axis != series->axes[row->term];
    size_t from = own ? row->row : series->rows[0].row;
    return own || !series_differs(series, axis) ? plot_text(series->data, from, axis) : "";
}

/* NULL: the names of the columns. */
static void write_key(FILE *file, const LawRow *row)
{
    const char *between = "";
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        const char *column = axis_info((Axis)axis)->column;
        if (column != NULL && axis != AXIS_SEED) {
            fprintf(file, "%s,", row == NULL ? column : shared(row, axis));
        }
    }
    for (size_t axis = 0; axis < AXIS_COUNT && row != NULL; axis++) {
        char standard[VALUE_TEXT];
        const AxisInfo *info = axis_info((Axis)axis);
        const char *text = shared(row, axis);
        value_print(standard, &info->domain, info->standard);
        if (info->column == NULL && *text != '\0' && strcmp(text, standard) != 0) {
            fprintf(file, "%s%s=%s", between, info->name, text);
            between = ";";
        }
    }
}

int growth_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    write_key(file, NULL);
    return fputs(OPTIONS_COLUMN, file) == EOF || fputs(tail, file) == EOF ? -1 : 0;
}

/* What grows, an error or the Omega that searches found; in which norm. */
static const char *what_grows(const Series *series)
{
    const char *omega = series->kind == SEARCH_MIN ? "omega_min" : "omega_proven";
    return series->data->searched ? omega : axis_info(AXIS_JUDGE)->domain.words[series->kind];
}

static const char *norm_of(const Series *series)
{
    return series->data->searched ? "" : axis_info(AXIS_NORM)->domain.words[series->data->norm];
}

/* Blank: NAN, or all of them where there are none. */
static void write_numbers(FILE *file, bool there, size_t count, const double *numbers)
{
    for (size_t i = 0; i < count; i++) {
        fputc(',', file);
        if (there && !isnan(numbers[i])) {
            fprintf(file, "%.12g", numbers[i]);
        }
    }
}

static void write_law(FILE *file, const LawRow *row)
{
    const Law *law = row->law;
    const size_t term = row->term;
    const double points[] = {law->from[term], law->to[term], (double)law->points,
                             row->series->data->searched ? NAN : (double)law->seeds,
                             (double)row->series->censored};
    const double line[] = {fit_constant(&law->fit),
                           law->fit.slope[term],
                           fit_slope_error(&law->fit, term),
                           row->series->data->searched ? NAN : law->ends[0].slope[term],
                           law->fit.residual,
                           law->fit.worst,
                           law->other,
                           law->below,
                           law->above};
    fprintf(file, ",%s,%s", names[kind_of(row)], why_of(row));
    write_numbers(file, true, 5, points);
    write_numbers(file, kind_of(row) < LAW_ZERO, 9, line);
}

int growth_write_row(FILE *file, const void *row)
{
    static const char *const parts[] = {"below", "agrees", "above"};
    const LawRow *own = row;
    const Series *series = own->series;
    const PlotCell *cell = own->measured;
    const double at = own->x != NULL ? own->x[own->term] : NAN;
    const double measured = cell != NULL ? cell->log10 : NAN;
    Theory theory;
    bool expected = law_theory(&theory, series, own->law, own->term);
    write_key(file, own);
    fprintf(file, ",%s,%s,%s", norm_of(series), what_grows(series),
            plot_axis_name(series->axes[own->term]));
    write_law(file, own);
    write_numbers(file, expected, 2, (const double[]){theory.least, theory.most});
    fprintf(file, ",%s", expected ? parts[theory.parts + 1] : "");
    write_numbers(file, true, 1, &at);
    fprintf(file, ",%s", cell != NULL ? plot_text(series->data, own->row, AXIS_SEED) : "");
    write_numbers(file, own->x != NULL, 3,
                  (const double[]){own->band.low, own->band.middle, own->band.high});
    write_numbers(file, true, 1, &measured);
    fprintf(file, ",%s,%s\n", cell != NULL && cell->bound ? "measured_log10" : "",
            !row_fits(own)             ? "fail"
            : kind_of(own) == LAW_NONE ? "none"
                                       : "ok");
    return ferror(file) ? -1 : 0;
}

/* ---- A terminal ------------------------------------------------------------------------------ */

void growth_print_series(FILE *file, const LawRow *row)
{
    const PlotData *data = row->series->data;
    const char *between = "";
    for (size_t axis = 0; axis < AXIS_COUNT; axis++) {
        const char *text = shared(row, axis);
        bool numeric = data->axes[axis].numeric, several = data->axes[axis].filled > 1;
        if (*text != '\0' && (axis == AXIS_CONSTRUCTION || several)) {
            fprintf(file, "%s%s%s%s", between, numeric ? plot_axis_name(axis) : "",
                    numeric ? "=" : "", text);
            between = ", ";
        }
    }
    const char *norm = norm_of(row->series);
    fprintf(file, ": %s%s%s along %s", what_grows(row->series), *norm != '\0' ? " " : "", norm,
            plot_axis_name(row->series->axes[row->term]));
}

static void print_law(FILE *file, const LawRow *row)
{
    const Law *law = row->law;
    const char *axis = plot_axis_name(row->series->axes[row->term]);
    double slope = law->fit.slope[row->term], constant = fit_constant(&law->fit);
    switch (kind_of(row)) {
    case LAW_POWER:
    case LAW_ARM_RIGHT: fprintf(file, "10^%.2f %s^%.3f", constant, axis, slope); break;
    case LAW_EXPONENTIAL:
    case LAW_ARM_LEFT: fprintf(file, "10^%.2f e^(%.4g %s)", constant, slope, axis); break;
    case LAW_FLOOR: fprintf(file, "10^%.2f", constant); break;
    case LAW_LOGARITHM: fprintf(file, "%.4g + %.3f ln %s", constant, slope, axis); break;
    case LAW_LINEAR: fprintf(file, "%.4g + %.3g %s", constant, slope, axis); break;
    case LAW_ZERO: fputs("0, proven", file); break;
    default: fprintf(file, "no law (%s)", why_of(row)); return;
    }
    if (law->fit.terms > 0) {
        fprintf(file, " (+- %.2g)", fit_slope_error(&law->fit, row->term));
    }
    if (law_has_line(law)) {
        fprintf(file, ", off by %.2g at most", law->fit.worst);
    }
}

void growth_print(FILE *file, const void *row)
{
    const LawRow *own = row;
    const Law *law = own->law;
    Theory theory;
    growth_print_series(file, own);
    fprintf(file, " %g to %g: ", law->from[own->term], law->to[own->term]);
    print_law(file, own);
    if (law_theory(&theory, own->series, law, own->term) && theory.parts != 0) {
        fprintf(file, "; theory: %g to %g", theory.least, theory.most);
    }
    if (own->x != NULL) {
        fprintf(file, "; at %g 10^%.2f (10^%.2f to 10^%.2f)", own->x[own->term], own->band.middle,
                own->band.low, own->band.high);
    }
    fprintf(file, "; %zu points", law->points);
    if (own->series->censored > 0) {
        fprintf(file, ", %zu cells censored", own->series->censored);
    }
    fputc('\n', file);
}
