/*
 * Statistics of a few numbers.
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

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

/* The sum of (a - mean of a) (b - mean of b). */
static double product_sum(const double *a, const double *b, size_t count)
{
    double mean_a = mean_of(a, count), mean_b = mean_of(b, count), sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (a[i] - mean_a) * (b[i] - mean_b);
    }
    return sum;
}

double fit_variance(const double *values, size_t count)
{
    return count < 2 ? 0 : product_sum(values, values, count) / (double)(count - 1);
}

static void take_residuals(LineFit *fit, const double *x, const double *y)
{
    for (size_t i = 0; i < fit->count; i++) {
        double residual = y[i] - line_at(fit, x != NULL ? x[i] : 0);
        fit->squares += residual * residual;
        fit->worst = fmax(fit->worst, fabs(residual));
    }
}

LineFit fit_line(const double *x, const double *y, size_t count)
{
    LineFit fit = {.count = count, .freedom = count > 2 ? count - 2 : 0};
    fit.mean_x = mean_of(x, count);
    fit.mean_y = mean_of(y, count);
    fit.spread = product_sum(x, x, count);
    fit.slope = fit.spread > 0 ? product_sum(x, y, count) / fit.spread : 0;
    take_residuals(&fit, x, y);
    return fit;
}

LineFit fit_constant(const double *y, size_t count)
{
    LineFit fit = {.count = count, .freedom = count - 1, .mean_y = mean_of(y, count)};
    take_residuals(&fit, NULL, y);
    return fit;
}

double line_at(const LineFit *fit, double x)
{
    return fit->mean_y + (fit->slope != 0 ? fit->slope * (x - fit->mean_x) : 0);
}

double line_residual(const LineFit *fit)
{
    return fit->freedom > 0 ? sqrt(fit->squares / (double)fit->freedom) : 0;
}

double line_slope_error(const LineFit *fit, double noise)
{
    return fit->spread > 0 ? noise / sqrt(fit->spread) : 0;
}

double line_error_at(const LineFit *fit, double noise, double x)
{
    double away = x - fit->mean_x;
    double tilt = fit->spread > 0 ? away * away / fit->spread : 0;
    return noise * sqrt(1 + 1 / (double)fit->count + tilt);
}

double fit_student(size_t freedom)
{
    static const double known[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                                   2.447,  2.365, 2.306, 2.262, 2.228};
    const size_t count = sizeof known / sizeof *known;
    return freedom == 0       ? INFINITY
           : freedom <= count ? known[freedom - 1]
                              : 1.96 + 2.7 / (double)freedom;
}

/* a [terms][2 terms], positive definite with ones on its diagonal: behind it, its inverse.  false:
 * singular. */
static bool invert(double a[PLANE_MOST][2 * PLANE_MOST], size_t terms)
{
    for (size_t k = 0; k < terms; k++) {
        for (size_t j = terms; j < 2 * terms; j++) {
            a[k][j] = j == terms + k;
        }
    }
    for (size_t k = 0; k < terms; k++) {
        double pivot = a[k][k];
        if (!(pivot > COLLINEAR)) {
            return false;
        }
        for (size_t j = 0; j < 2 * terms; j++) {
            a[k][j] /= pivot;
        }
        for (size_t i = 0; i < terms; i++) {
            double factor = a[i][k];
            for (size_t j = 0; i != k && j < 2 * terms; j++) {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    return true;
}

/* Residuals of the plane, and what its slopes may be off by. */
static void judge_plane(PlaneFit *fit, double *const x[], const double *y)
{
    double squares = 0;
    for (size_t i = 0; i < fit->count; i++) {
        double residual = y[i] - fit->constant;
        for (size_t k = 0; k < fit->terms; k++) {
            residual -= fit->slope[k] * x[k][i];
        }
        squares += residual * residual;
        fit->worst = fmax(fit->worst, fabs(residual));
    }
    fit->residual = sqrt(squares / (double)fit->freedom);
    for (size_t k = 0; k < fit->terms; k++) {
        fit->error[k] *= fit->residual;
    }
}

bool fit_plane(PlaneFit *fit, double *const x[], const double *y, size_t count, size_t terms)
{
    double a[PLANE_MOST][2 * PLANE_MOST] = {{0}}, size[PLANE_MOST];
    *fit = (PlaneFit){.count = count, .terms = terms};
    if (count < terms + 2) {
        return false;
    }
    fit->freedom = count - terms - 1;
    for (size_t k = 0; k < terms; k++) {
        size[k] = sqrt(product_sum(x[k], x[k], count));
        for (size_t j = 0; j <= k; j++) {
            a[k][j] = a[j][k] = product_sum(x[k], x[j], count) / (size[k] * size[j]);
        }
    }
    if (!invert(a, terms)) {
        return false;
    }
    fit->constant = mean_of(y, count);
    for (size_t k = 0; k < terms; k++) {
        for (size_t j = 0; j < terms; j++) {
            fit->slope[k] += a[k][terms + j] * product_sum(x[j], y, count) / (size[j] * size[k]);
        }
        fit->error[k] = sqrt(a[k][terms + k]) / size[k];
        fit->constant -= fit->slope[k] * mean_of(x[k], count);
    }
    judge_plane(fit, x, y);
    return true;
}
