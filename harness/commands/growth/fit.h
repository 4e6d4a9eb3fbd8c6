/*
 * Statistics of a few numbers: medians, lines through points, planes through points.
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

/* y = mean_y + slope (x - mean_x) through count points, by least squares; of a constant y = mean_y,
 * slope and spread are 0.  spread: the sum of (x - mean_x)^2; squares: that of the residuals;
 * worst: the largest residual; freedom: count less the numbers that were fitted. */
typedef struct {
    size_t count, freedom;
    double mean_x, mean_y, slope, spread, squares, worst;
} LineFit;

LineFit fit_line(const double *x, const double *y, size_t count);
LineFit fit_constant(const double *y, size_t count);

double line_at(const LineFit *fit, double x);

/* sqrt(squares / freedom): the residuals' root mean square; 0 where nothing is left over. */
double line_residual(const LineFit *fit);

/* The standard error of the slope, and that of a new point's y, where a point's own is noise. */
double line_slope_error(const LineFit *fit, double noise);
double line_error_at(const LineFit *fit, double noise, double x);

/* Student's t: so many standard errors to either side hold 95 %. */
double fit_student(size_t freedom);

/* y = constant + sum of slope[k] x[k][i], by least squares; error: of the slopes. */
enum { PLANE_MOST = 3 };
typedef struct {
    size_t count, terms, freedom;
    double constant, slope[PLANE_MOST], error[PLANE_MOST], residual, worst;
} PlaneFit;

/* terms <= PLANE_MOST.  false: fewer points than terms + 2, or terms that hang together. */
bool fit_plane(PlaneFit *fit, double *const x[], const double *y, size_t count, size_t terms);

#endif
