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
static bool invert(double a[FIT_MOST][2 * FIT_MOST], size_t terms)
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

static void take_residuals(Fit *fit, const double *const x[], const double *y)
{
    for (size_t i = 0; i < fit->count; i++) {
        double at[FIT_MOST] = {0};
        for (size_t k = 0; k < fit->terms; k++) {
            at[k] = x[k][i];
        }
        double residual = y[i] - fit_at(fit, at);
        fit->squares += residual * residual;
        fit->worst = fmax(fit->worst, fabs(residual));
    }
}

bool fit_find(Fit *fit, const double *const x[], const double *y, size_t count, size_t terms)
{
    double a[FIT_MOST][2 * FIT_MOST] = {{0}}, size[FIT_MOST];
    *fit = (Fit){.count = count, .terms = terms};
    if (count <= terms) {
        return false;
    }
    fit->freedom = count - terms - 1;
    fit->mean_y = mean_of(y, count);
    for (size_t k = 0; k < terms; k++) {
        fit->mean_x[k] = mean_of(x[k], count);
        size[k] = sqrt(product_sum(x[k], x[k], count));
        for (size_t j = 0; j <= k; j++) {
            a[k][j] = a[j][k] = product_sum(x[k], x[j], count) / (size[k] * size[j]);
        }
    }
    if (!invert(a, terms)) {
        return false;
    }
    for (size_t k = 0; k < terms; k++) {
        for (size_t j = 0; j < terms; j++) {
            fit->inverse[k][j] = a[k][terms + j] / (size[k] * size[j]);
            fit->slope[k] += fit->inverse[k][j] * product_sum(x[j], y, count);
        }
    }
    take_residuals(fit, x, y);
    return true;
}

double fit_at(const Fit *fit, const double *x)
{
    double y = fit->mean_y;
    for (size_t k = 0; k < fit->terms; k++) {
        y += fit->slope[k] * (x[k] - fit->mean_x[k]);
    }
    return y;
}

double fit_constant(const Fit *fit)
{
    return fit_at(fit, (const double[FIT_MOST]){0});
}

double fit_residual(const Fit *fit)
{
    return fit->freedom > 0 ? sqrt(fit->squares / (double)fit->freedom) : 0;
}

double fit_slope_error(const Fit *fit, double noise, size_t term)
{
    return noise * sqrt(fit->inverse[term][term]);
}

double fit_error_at(const Fit *fit, double noise, const double *x)
{
    double share = 1 + 1 / (double)fit->count;
    for (size_t k = 0; k < fit->terms; k++) {
        for (size_t j = 0; j < fit->terms; j++) {
            share += fit->inverse[k][j] * (x[k] - fit->mean_x[k]) * (x[j] - fit->mean_x[j]);
        }
    }
    return noise * sqrt(share);
}
