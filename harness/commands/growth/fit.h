/*
 * Statistics of a few numbers: medians, and least squares.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_FIT_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* values [count > 0] are put in order. The mean of the two in the middle of an even number; of an
 * infinite one and another, the infinite one. */
double fit_median(double *values, size_t count);

/* The points' variance by their number less one; of fewer than two, 0. */
double fit_variance(const double *values, size_t count);

/* y = mean_y + sum of slope[k] (x[k] - mean_x[k]) over the terms: a constant has none, a line one.
 * inverse: of the matrix of the sums of (x[k] - mean_x[k]) (x[m] - mean_x[m]); squares: the sum of
 * those of the residuals; worst: the largest; freedom: count less the numbers that were fitted. */
enum { FIT_MOST = 3 };
typedef struct {
    size_t count, terms, freedom;
    double mean_x[FIT_MOST], mean_y, slope[FIT_MOST], inverse[FIT_MOST][FIT_MOST];
    double squares, worst;
} Fit;

/* By least squares; x [terms <= FIT_MOST][count].  false: there are no more points than terms, or
 * terms that hang together. */
bool fit_find(Fit *fit, const double *const x[], const double *y, size_t count, size_t terms);

/* y at x [terms]. */
double fit_at(const Fit *fit, const double *x);

/* Its value where all x are 0. */
double fit_constant(const Fit *fit);

/* sqrt(squares / freedom): the residuals' root mean square; 0 where nothing is left over. */
double fit_residual(const Fit *fit);

/* The standard errors of a slope, and of a new point's y at x, where a point's own is noise. */
double fit_slope_error(const Fit *fit, double noise, size_t term);
double fit_error_at(const Fit *fit, double noise, const double *x);

/* Student's t: so many standard errors to either side hold 95 %. */
double fit_student(size_t freedom);

#endif
