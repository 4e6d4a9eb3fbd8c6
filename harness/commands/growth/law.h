/*
 * The law by which an error grows along an axis, or the Omega needed along the sizes, and what it
 * says of a size that was not fitted: a line (fit.h) of log10 of the error's median, or of Omega.
 *
 * Umbrella header: laws are found in find.c, and law.c has what they say.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_GROWTH_LAW_H
#define HEADPROOF_HARNESS_COMMANDS_GROWTH_LAW_H

#include "series.h"

/* Points that a law takes at least; laws of one series at most. */
enum { LAW_POINTS = 3, LAWS_MOST = 7 };

/* why: of none, `few-points`, `residual`, `bound` or `zero`, which contradict it; `either` where a
 * power and an exponential both would do; else "".
 * told: there are three sizes on the axis, or more, so that a law can be told; of a 0 also theory
 * expects it at every size.
 * ends: the same law through the larger half of the points, LAW_POINTS at least; of a formula
 * through those with more than the smallest size of each term, and its other form (kind LAW_NONE:
 * there is none).
 * below_line, above_line: how far the smallest and largest seed are from the median, as lines along
 * the axis; below, above: at most.  other: the residual of what was not chosen, or NAN. */
typedef struct {
    LawKind kind;
    const char *why;
    size_t points, seeds, terms;
    double from[FIT_MOST], to[FIT_MOST];
    bool told[FIT_MOST];
    Fit fit, ends[FIT_MOST + 1], below_line, above_line;
    double below, above, other;
} Law;

/* Laws of one series, x ascending; of searches one. */
typedef struct {
    Law laws[LAWS_MOST];
    size_t count;
} Laws;

/* Finds them (docs/growth.md, "What a law is").  0; 99 after a message. */
void laws_find(Laws *laws, const Series *series);

/* The law of that kind through points [count > 0], x ascending: of a line they are values. */
Law law_make(LawKind kind, const char *why, const GrowthPoint *points, size_t count, size_t terms);

/* The slope that theory expects: from least to most, and in a word whether the one found is
 * `below`, `agrees` or is `above`.  NAN and "": nothing is expected. */
typedef struct {
    double least, most;
    const char *word;
} Theory;
Theory law_theory(const Series *series, const Law *law, size_t term);

/* A band that a measured row is expected in, logarithms to the base of ten. */
typedef struct {
    double low, middle, high;
} Band;

/* At x, by the law that says most there, which it returns.  NULL: none says anything. */
const Law *laws_predict(Band *band, const Laws *laws, const double *x);

#endif
