/*
 * The law by which an error grows along an axis, and what it says of a size that was not fitted.
 *
 * A law is a line: log10 of the error against u(x), by least squares through the medians.
 *
 *     power, arm-right     u = log10 x      error = 10^constant x^slope
 *     exponential, arm-left u = x log10 e   error = 10^constant e^(slope x)
 *     floor                                 error = 10^constant
 *     logarithm, linear    u = ln x, x      Omega = constant + slope u + other terms
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_LAW_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_LAW_H

#include "fit.h"
#include "series.h"

typedef enum {
    LAW_POWER,
    LAW_EXPONENTIAL,
    LAW_ARM_LEFT,
    LAW_FLOOR,
    LAW_ARM_RIGHT,
    LAW_LOGARITHM, /* of an Omega: a term of a sum (needed.h) */
    LAW_LINEAR,
    LAW_ZERO, /* a proven 0 at every point */
    LAW_NONE,
    LAW_COUNT
} LawKind;

/* As the tables have it. */
const char *law_name(LawKind kind);

/* Points that a law takes at least. */
enum { LAW_POINTS = 3 };

/* Residuals, in powers of ten, that are no objection to a law, whatever seeds do. */
#define LAW_RESIDUAL 0.1

/* why: of none, `few-points`, `residual`, `bound` or `zero`, which contradict it; `either` where a
 * power and an exponential both would do; else "".
 * end: the same law through the larger half of the points.  noise: the standard error of a median
 * by its seeds, over the points; other: the residual of what was not chosen, or NAN.
 * below, above: how far the smallest and largest seed are from the median, at most; and as lines
 * along the axis. */
typedef struct {
    LawKind kind;
    const char *why;
    double from, to;
    size_t points, seeds;
    Fit fit, end, below_line, above_line;
    size_t term; /* of the fit: the axis's */
    double noise, other, below, above;
} Law;

/* Laws of one series, x ascending. */
enum { LAWS_MOST = 7 };
typedef struct {
    Law laws[LAWS_MOST];
    size_t count;
} Laws;

/* The law of that kind, a line, through points [count >= LAW_POINTS] that are values; room: for
 * four times as many numbers. */
Law law_fit(LawKind kind, const GrowthPoint *points, size_t count, double *room);

/* None, or zero, through points [count > 0], which may be any. */
Law law_without_line(LawKind kind, const char *why, const GrowthPoint *points, size_t count);

/* The standard error of the medians, by the seeds. */
double law_seed_noise(const GrowthPoint *points, size_t count);

/* u(x), of a law of errors. */
double law_u(LawKind kind, double x);

/* Does it say how large an error is? */
bool law_has_line(const Law *law);

/* What residuals and seeds say a median may be off by. */
double law_noise(const Law *law);

/* What theory expects of the slope (THEORY.md): from least to most.  false: nothing. */
typedef struct {
    double least, most;
} Theory;
bool law_theory(Theory *theory, const Series *series, LawKind kind);

/* Does the slope part from it?  Below, within or above: -1, 0, 1. */
int law_parts(const Law *law, const Theory *theory);

/* A band that a measured row is expected in, logarithms to the base of ten. */
typedef struct {
    double low, middle, high;
} Band;

/* At x, by the law that says most there, which it returns.  NULL: none says anything. */
const Law *laws_predict(Band *band, const Laws *laws, double x);

#endif
