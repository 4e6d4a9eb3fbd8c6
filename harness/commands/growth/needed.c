/*
 * Formulas of the Omega needed.
 */
#include "needed.h"

#include "../../base/message.h"
#include "../plot/searched.h"

#include <math.h>
#include <stdlib.h>

/* A formula whose Omegas are off by more is none: by 1 the error is another by e^2. */
#define FORMULA_RESIDUAL 1.0

static const size_t sizes[FIT_MOST] = {AXIS_N, AXIS_D, AXIS_DEPTH};

typedef struct {
    TakeTerm *take;
    void *context;
} Taking;

/* Searches of one key that found an Omega [count], and the sizes that they differ in. */
typedef struct {
    size_t axes[FIT_MOST], terms, count;
    double *x[FIT_MOST], *y;
} Searches;

static void take_searches(Searches *all, const Placed *rows, size_t count, size_t kind)
{
    all->terms = all->count = 0;
    for (size_t k = 0; k < FIT_MOST; k++) {
        size_t(*values)[PLOT_AXES] = rows[0].row.data->values;
        bool varies = false;
        for (size_t i = 1; i < count; i++) {
            varies |= values[rows[i].row.row][sizes[k]] != values[rows[0].row.row][sizes[k]];
        }
        if (varies) {
            all->axes[all->terms++] = sizes[k];
        }
    }
    for (size_t i = 0; i < count; i++) {
        SeriesRow row = rows[i].row;
        PlotCell cell = row.data->cells[row.row][kind];
        for (size_t k = 0; k < all->terms; k++) {
            all->x[k][all->count] = log(series_number(row.data, row.row, all->axes[k]));
        }
        all->y[all->count] = cell.mantissa * pow(10, (double)cell.exponent);
        /* An end that is as low as was tried is no Omega that is needed. */
        all->count += isfinite(cell.log10) && !cell.bound;
    }
}

/* The formula with ln depth, or with depth, which is the last term where it varies. */
static Law find_formula(Searches *all)
{
    const double *const x[FIT_MOST] = {all->x[0], all->x[1], all->x[2]};
    Law law = {.kind = LAW_NONE, .why = "few-points", .points = all->count, .other = NAN};
    double *depths = all->x[all->terms - 1];
    bool deep = all->axes[all->terms - 1] == AXIS_DEPTH;
    Fit other;
    if (all->count < all->terms + 2 || !fit_find(&law.fit, x, all->y, all->count, all->terms)) {
        return law;
    }
    law.kind = LAW_LOGARITHM;
    law.why = "";
    for (size_t i = 0; i < all->count && deep; i++) {
        depths[i] = exp(depths[i]);
    }
    if (deep && fit_find(&other, x, all->y, all->count, all->terms)) {
        bool better = fit_residual(&other) < fit_residual(&law.fit);
        law.other = fit_residual(better ? &law.fit : &other);
        law.fit = better ? other : law.fit;
        law.kind = better ? LAW_LINEAR : LAW_LOGARITHM;
    }
    if (fit_residual(&law.fit) > FORMULA_RESIDUAL) {
        law.kind = LAW_NONE;
        law.why = "residual";
    }
    return law;
}

/* A row for every term. */
static int take_terms(const Taking *taking, Series *series, const Placed *rows, Searches *all)
{
    Law formula = find_formula(all);
    int status = 0;
    for (size_t k = 0; k < all->terms && status == 0; k++) {
        Law law = formula;
        bool linear = law.kind == LAW_LINEAR && all->axes[k] != AXIS_DEPTH;
        law.kind = linear ? LAW_LOGARITHM : law.kind;
        law.term = k;
        law.from = INFINITY;
        series->axis = all->axes[k];
        for (size_t i = 0; i < series->count; i++) {
            double x = series_number(series->data, rows[i].row.row, series->axis);
            law.from = fmin(law.from, x);
            law.to = fmax(law.to, x);
        }
        status = taking->take(taking->context, series, &law);
    }
    return status;
}

static int take_key(void *context, const Placed *rows, size_t count)
{
    static const size_t kinds[] = {SEARCH_MIN, SEARCH_PROVEN};
    double *room = calloc((FIT_MOST + 1) * (count + 1), sizeof *room);
    Searches all = {.y = room};
    int status = room == NULL ? memory_fault() : 0;
    for (size_t k = 0; k < FIT_MOST && status == 0; k++) {
        all.x[k] = room + (k + 1) * (count + 1);
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == 0; k++) {
        Series series = {.data = rows[0].row.data, .row = rows[0].row.row, .count = count};
        series.kind = (ErrorKind)kinds[k];
        take_searches(&all, rows, count, kinds[k]);
        series.censored = count - all.count;
        if (all.terms > 0 && (all.count > 0 || kinds[k] == SEARCH_MIN)) {
            status = take_terms(context, &series, rows, &all);
        }
    }
    free(room);
    return status;
}

int needed_each(const PlotData *data, size_t rows, TakeTerm *take, void *context)
{
    Taking taking = {take, context};
    return series_keys(data, rows, AXIS_N, take_key, &taking);
}
