/*
 * Medians and lines.
 */
#include "fit.h"

#include "../../base/number.h"

#include <math.h>
#include <stdlib.h>

/* Columns with a pivot below this, of 1, hang together. */
#define COLLINEAR 1e-12

/* So many times what seeds explain. */
#define FIT_NOISES 3.0

double fit_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, number_compare);
    double low = values[(count - 1) / 2], high = values[count / 2];
    return isinf(low) ? low : isinf(high) ? high : (low + high) / 2;
}

double fit_student(size_t freedom)
{
    static const double known[] = {INFINITY, 12.706, 4.303, 3.182, 2.776, 2.571,
                                   2.447,    2.365,  2.306, 2.262, 2.228};
    return freedom < sizeof known / sizeof *known ? known[freedom] : 1.96 + 2.7 / (double)freedom;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

double fit_lever(const Fit *fit, const double *x, size_t term)
{
    const bool last = fit->kind == LAW_LINEAR && term + 1 == fit->terms;
    double u = last ? x[term] : fit->kind >= LAW_LOGARITHM ? log(x[term]) : log10(x[term]);
    if (fit->kind == LAW_EXPONENTIAL || fit->kind == LAW_ARM_LEFT) {
        u = x[term] * log10(exp(1));
    }
    return u - fit->mean[term];
}

void fit_add(Fit *fit, const GrowthPoint *point)
{
    const size_t terms = fit->terms;
    double from[FIT_MOST + 1], share = (double)fit->count / (double)(fit->count + 1);
    fit->count++;
    for (size_t k = 0; k <= terms; k++) {
        from[k] = k < terms ? fit_lever(fit, point->x, k) : point->y[fit->y] - fit->mean[terms];
        fit->mean[k] += from[k] / (double)fit->count;
        for (size_t j = 0; j <= k; j++) {
            fit->sums[k][j] = fit->sums[j][k] += share * from[k] * from[j];
        }
    }
}

/* A step of Gauss and Jordan: behind the last the matrix has become its inverse, and the column
 * behind it the slopes. */
static void eliminate(Fit *fit, size_t term)
{
    double pivot = fit->sums[term][term];
    fit->sums[term][term] = 1;
    for (size_t k = 0; k <= fit->terms; k++) {
        fit->sums[term][k] /= pivot;
    }
    for (size_t i = 0; i < fit->terms; i++) {
        double factor = i == term ? 0 : fit->sums[i][term];
        fit->sums[i][term] -= factor;
        for (size_t k = 0; k <= fit->terms; k++) {
            fit->sums[i][k] -= factor * fit->sums[term][k];
        }
    }
}

bool fit_solve(Fit *fit)
{
    double least[FIT_MOST];
    bool found = fit->count > fit->terms;
    for (size_t k = 0; k < fit->terms; k++) {
        least[k] = COLLINEAR * fit->sums[k][k];
    }
    for (size_t k = 0; k < fit->terms && found; k++) {
        found = fit->sums[k][k] > least[k];
        eliminate(fit, k);
    }
    fit->constant = fit->mean[fit->terms];
    for (size_t k = 0; k < fit->terms; k++) {
        fit->slope[k] = fit->sums[k][fit->terms];
        fit->constant -= fit->slope[k] * fit->mean[k];
    }
    return found;
}

/* The standard error of a median of normal values is sqrt(pi / 2) times that of their mean. */
void fit_judge(Fit *fit, const GrowthPoint *points)
{
    double squares = 0, variance = 0, misfits = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double residual = points[i].y[fit->y] - fit_at(fit, points[i].x);
        double noise = acos(-1) / 2 * points[i].variance / fmax((double)points[i].values, 1);
        double room = fmax(FIT_RESIDUAL, FIT_NOISES * sqrt(noise));
        squares += residual * residual;
        misfits += residual * residual / (room * room);
        variance += noise;
        fit->worst = fmax(fit->worst, fabs(residual));
    }
    fit->freedom = fit->count - fit->terms - 1;
    fit->residual = fit->freedom > 0 ? sqrt(squares / (double)fit->freedom) : 0;
    fit->misfit = fit->freedom > 0 ? sqrt(misfits / (double)fit->freedom) : 0;
    fit->seed_noise = sqrt(variance / (double)fit->count);
    fit->noise = fmax(fit->residual, fit->seed_noise);
}

double fit_at(const Fit *fit, const double *x)
{
    double y = fit->mean[fit->terms];
    for (size_t k = 0; k < fit->terms; k++) {
        y += fit->slope[k] * fit_lever(fit, x, k);
    }
    return y;
}

double fit_slope_error(const Fit *fit, size_t term)
{
    return fit->terms > 0 ? fit->noise * sqrt(fit->sums[term][term]) : 0;
}

double fit_error_at(const Fit *fit, const double *x)
{
    double share = 1 + 1 / (double)fit->count;
    for (size_t k = 0; k < fit->terms; k++) {
        for (size_t j = 0; j < fit->terms; j++) {
            share += fit->sums[k][j] * fit_lever(fit, x, k) * fit_lever(fit, x, j);
        }
    }
    return fit->noise * sqrt(share);
}
