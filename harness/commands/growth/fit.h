/*
 * Statistics of a few numbers: medians, and lines by least squares.
 *
 *     power, arm-right       log10 y = constant + slope log10 x
 *     exponential, arm-left  log10 y = constant + slope x log10 e
 *     floor                  log10 y = constant
 *     logarithm              y = constant + the sum of slope ln x over the terms
 *     linear                 the same with slope x of the last term
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_FIT_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_FIT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    LAW_POWER,
    LAW_EXPONENTIAL,
    LAW_ARM_LEFT,
    LAW_FLOOR,
    LAW_ARM_RIGHT,
    LAW_LOGARITHM,
    LAW_LINEAR,
    LAW_ZERO, /* no line: a proven 0 at every point */
    LAW_NONE,
    LAW_COUNT
} LawKind;

/* What is known of the median over the seeds at a point. */
typedef enum {
    MEDIAN_VALUE,   /* it is a value, whatever cells are bounds */
    MEDIAN_AT_MOST, /* cells in the middle are bounds, or 0: it is at most that */
    MEDIAN_UNKNOWN  /* no row says anything, or it is not finite */
} MedianState;

/* y: the median, -INFINITY of a proven 0, and how far the smallest and the largest value are below
 * and above it; variance: of the values alone, so many of them; seeds: rows that say something,
 * each a seed or an input; row: the first, of the table. */
enum { FIT_MOST = 3, MEDIAN = 0, BELOW, ABOVE, POINT_Y };
typedef struct {
    double x[FIT_MOST], y[POINT_Y], variance;
    size_t seeds, values, row;
    MedianState state;
} GrowthPoint;

/* values [count > 0] are put in order. The mean of the two in the middle of an even number; of an
 * infinite one and another, the infinite one. */
double fit_median(double *values, size_t count);

/* The values' variance by their number less one; of fewer than two, 0. */
double fit_variance(const double *values, size_t count);

/* y = mean_y + sum of slope[k] (u[k] - mean_u[k]) over the terms, u what the kind makes of x.
 * inverse: of the matrix of the sums of (u[k] - mean_u[k]) (u[m] - mean_u[m]); freedom: count less
 * the numbers that were fitted; residual: sqrt(sum of squares / freedom), 0 where nothing is left
 * over; worst: the largest; seed_noise: the standard error of a median by its seeds, in the root
 * mean square; noise: the larger of both, what a point may be off by. */
typedef struct {
    LawKind kind;
    size_t count, terms, freedom;
    double mean_u[FIT_MOST], mean_y, slope[FIT_MOST], inverse[FIT_MOST][FIT_MOST];
    double residual, worst, seed_noise, noise;
} Fit;

/* The line of its kind, with so many terms, through y of points [count]; all but these three are
 * set.  false: there are no more points than terms, or terms that hang together. */
bool fit_find(Fit *fit, const GrowthPoint *points, size_t y);

/* What x is in a line of that kind; last: of the last term. */
double fit_u(LawKind kind, bool last, double x);

/* y at x [terms]. */
double fit_at(const Fit *fit, const double *x);

/* Its value where all u are 0. */
double fit_constant(const Fit *fit);

/* The standard errors of a slope, and of a new point's y at x. */
double fit_slope_error(const Fit *fit, size_t term);
double fit_error_at(const Fit *fit, const double *x);

/* Student's t: so many standard errors to either side hold 95 %. */
double fit_student(size_t freedom);

#endif
