/*
 * Medians and lines.
 */
#include "fit.h"

#include <math.h>
#include <stdlib.h>

/* Columns with a pivot below this, of 1, hang together. */
#define COLLINEAR 1e-12

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double fit_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_numbers);
    double low = values[(count - 1) / 2], high = values[count / 2];
    return isinf(low) ? low : isinf(high) ? high : (low + high) / 2;
}

double fit_variance(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    for (size_t i = 0; i < count; i++) {
        double from = values[i] - sum / (double)count;
        squares += from * from;
    }
    return count < 2 ? 0 : squares / (double)(count - 1);
}

double fit_student(size_t freedom)
{
    static const double known[] = {INFINITY, 12.706, 4.303, 3.182, 2.776, 2.571,
                                   2.447,    2.365,  2.306, 2.262, 2.228};
    return freedom < sizeof known / sizeof *known ? known[freedom] : 1.96 + 2.7 / (double)freedom;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

double fit_u(LawKind kind, bool last, double x)
{
    switch (kind) {
    case LAW_FLOOR: return 0;
    case LAW_EXPONENTIAL:
    case LAW_ARM_LEFT: return x * log10(exp(1));
    case LAW_LOGARITHM: return log(x);
    case LAW_LINEAR: return last ? x : log(x);
    default: return log10(x);
    }
}

/* A column of the points: u of a term, or behind those y. */
static double find_cell(const Fit *fit, const GrowthPoint *point, size_t column)
{
    return column < FIT_MOST ? fit_u(fit->kind, column + 1 == fit->terms, point->x[column])
                             : point->y[column - FIT_MOST];
}

static double mean_of(const Fit *fit, const GrowthPoint *points, size_t column)
{
    double sum = 0;
    for (size_t i = 0; i < fit->count; i++) {
        sum += find_cell(fit, &points[i], column);
    }
    return sum / (double)fit->count;
}

/* The sum of (a - mean of a) (b - mean of b). */
static double product_sum(const Fit *fit, const GrowthPoint *points, size_t a, size_t b)
{
    double mean_a = mean_of(fit, points, a), mean_b = mean_of(fit, points, b), sum = 0;
    for (size_t i = 0; i < fit->count; i++) {
        sum += (find_cell(fit, &points[i], a) - mean_a) * (find_cell(fit, &points[i], b) - mean_b);
    }
    return sum;
}

/* a becomes its inverse; it is positive definite, with ones on its diagonal.  false: singular. */
static bool invert(double a[FIT_MOST][FIT_MOST], size_t terms)
{
    for (size_t k = 0; k < terms; k++) {
        double pivot = a[k][k];
        if (!(pivot > COLLINEAR)) {
            return false;
        }
        a[k][k] = 1;
        for (size_t j = 0; j < terms; j++) {
            a[k][j] /= pivot;
        }
        for (size_t i = 0; i < terms; i++) {
            double factor = i == k ? 0 : a[i][k];
            a[i][k] -= factor;
            for (size_t j = 0; j < terms; j++) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    return true;
}

/* Its residuals, and what seeds explain of them: the standard error of a median of normal values is
 * sqrt(pi / 2) times that of their mean. */
static void find_noise(Fit *fit, const GrowthPoint *points, size_t y)
{
    double squares = 0, variance = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double residual = points[i].y[y] - fit_at(fit, points[i].x);
        squares += residual * residual;
        variance += points[i].values > 0 ? points[i].variance / (double)points[i].values : 0;
        fit->worst = fmax(fit->worst, fabs(residual));
    }
    fit->residual = fit->freedom > 0 ? sqrt(squares / (double)fit->freedom) : 0;
    fit->seed_noise = sqrt(acos(-1) / 2 * variance / (double)fit->count);
    fit->noise = fmax(fit->residual, fit->seed_noise);
}

bool fit_find(Fit *fit, const GrowthPoint *points, size_t y)
{
    double size[FIT_MOST];
    const size_t terms = fit->terms;
    if (fit->count <= terms) {
        return false;
    }
    fit->freedom = fit->count - terms - 1;
    fit->mean_y = mean_of(fit, points, FIT_MOST + y);
    for (size_t k = 0; k < terms; k++) {
        fit->mean_u[k] = mean_of(fit, points, k);
        size[k] = sqrt(product_sum(fit, points, k, k));
        for (size_t j = 0; j <= k; j++) {
            double product = product_sum(fit, points, k, j) / (size[k] * size[j]);
            fit->inverse[k][j] = fit->inverse[j][k] = product;
        }
    }
    if (!invert(fit->inverse, terms)) {
        return false;
    }
    for (size_t k = 0; k < terms; k++) {
        for (size_t j = 0; j < terms; j++) {
            fit->inverse[k][j] /= size[k] * size[j];
            fit->slope[k] += fit->inverse[k][j] * product_sum(fit, points, j, FIT_MOST + y);
        }
    }
    find_noise(fit, points, y);
    return true;
}

double fit_at(const Fit *fit, const double *x)
{
    double y = fit->mean_y;
    for (size_t k = 0; k < fit->terms; k++) {
        y += fit->slope[k] * (fit_u(fit->kind, k + 1 == fit->terms, x[k]) - fit->mean_u[k]);
    }
    return y;
}

double fit_constant(const Fit *fit)
{
    double y = fit->mean_y;
    for (size_t k = 0; k < fit->terms; k++) {
        y += fit->slope[k] * (0 - fit->mean_u[k]);
    }
    return y;
}

double fit_slope_error(const Fit *fit, size_t term)
{
    return fit->noise * sqrt(fit->inverse[term][term]);
}

double fit_error_at(const Fit *fit, const double *x)
{
    double share = 1 + 1 / (double)fit->count, from[FIT_MOST];
    for (size_t k = 0; k < fit->terms; k++) {
        from[k] = fit_u(fit->kind, k + 1 == fit->terms, x[k]) - fit->mean_u[k];
        for (size_t j = 0; j < k; j++) {
            share += 2 * fit->inverse[k][j] * from[k] * from[j];
        }
        share += fit->inverse[k][k] * from[k] * from[k];
    }
    return fit->noise * sqrt(share);
}
