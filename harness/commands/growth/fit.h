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
    LAW_NONE,
    LAW_ZERO,  /* no line: a proven 0 at every point */
    LAW_FLOOR, /* this and what follows: a line */
    LAW_POWER,
    LAW_EXPONENTIAL,
    LAW_ARM_LEFT,
    LAW_ARM_RIGHT,
    LAW_LOGARITHM, /* this and the last: formulas, of Omega */
    LAW_LINEAR,
    LAW_COUNT
} LawKind;

/* y: the median over the seeds, and how far the smallest and the largest value are below and above
 * it; known: it is a value, whatever cells are bounds; else it is at most that, -INFINITY of a
 * proven 0, INFINITY where nothing is known; variance: of the values alone, so many of them; seeds:
 * rows that say something, each a seed or an input; row: the first, of the table. */
enum { FIT_MOST = 3, MEDIAN = 0, BELOW, ABOVE, POINT_Y };
typedef struct {
    double x[FIT_MOST], y[POINT_Y], variance;
    size_t seeds, values, row;
    bool known;
} GrowthPoint;

/* values [count > 0] are put in order. The mean of the two in the middle of an even number; of an
 * infinite one and another, the infinite one. */
double fit_median(double *values, size_t count);

/* A point may be off its line by this, in powers of ten, or three times what its seeds explain. */
#define FIT_RESIDUAL 0.1

/* A line of its kind through y, one of a point's: constant + sum of slope[k] u[k] over the terms, u
 * what the kind makes of x.  count: of points; mean: of the u, then of y; sums: of the products of
 * what is over these means, and once it is solved in place of those of two u the inverse of their
 * matrix.  freedom: count less the numbers that were fitted; residual: sqrt(sum of squares /
 * freedom), 0 where nothing is left over; misfit: the same of the residuals over what their points
 * may be off by; worst: the largest residual; seed_noise: the standard error of a median by its
 * seeds, in the root mean square; noise: that or the residual, the larger, for new points. */
typedef struct {
    LawKind kind;
    size_t terms, y, count, freedom;
    double mean[FIT_MOST + 1], sums[FIT_MOST + 1][FIT_MOST + 1], constant, slope[FIT_MOST];
    double residual, misfit, worst, seed_noise, noise;
} Fit;

/* One point more, of a fit whose kind, terms and y are set, and all else 0 before the first. */
void fit_add(Fit *fit, const GrowthPoint *point);

/* u of a term at x [terms], less its mean. */
double fit_lever(const Fit *fit, const double *x, size_t term);

/* The slopes and the constant.  false: there are no more points than terms, or terms that hang
 * together. */
bool fit_solve(Fit *fit);

/* Everything else, of the points that were added, one behind another. */
void fit_judge(Fit *fit, const GrowthPoint *points);

/* y at x [terms]. */
double fit_at(const Fit *fit, const double *x);

/* The standard errors of a slope, 0 of a floor, and of a new point's y at x. */
double fit_slope_error(const Fit *fit, size_t term);
double fit_error_at(const Fit *fit, const double *x);

/* Student's t: so many standard errors to either side hold 95 %. */
double fit_student(size_t freedom);

#endif
