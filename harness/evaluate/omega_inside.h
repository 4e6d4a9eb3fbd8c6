/*
 * The inside of an interval of Omegas (private to the search).
 *
 * Each function says which Omega to evaluate next: one that was not evaluated, or 0: none.  The
 * interval is from trial first to trial last.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_OMEGA_INSIDE_H
#define HEADPROOF_HARNESS_EVALUATE_OMEGA_INSIDE_H

#include "omega_search.h"

/* An Omega that may be evaluated, in as many digits as asked for but at the ends of the range; 0
 * where it has been. */
double omega_fresh(const Trials *trials, const OmegaOptions *options, double omega);

/* Between two, by ratio. */
double omega_middle(double a, double b);

/* Which of the format's numbers Omega becomes, counted from 0 up. */
double omega_step(const OmegaOptions *options, double omega);

/* For an end between trials i and i + 1: the middle; in steps, until the two are neighbours, and
 * then both sides of the edge between them. */
double omega_toward_end(const Trials *trials, const OmegaOptions *options, size_t i);

/* In the interval, until there are as many as wanted: the purposes take turns. */
double omega_inside(const Trials *trials, const OmegaOptions *options, size_t first, size_t last,
                    size_t wanted);

/* Around the powers of two, where the digits that 2 Omega leaves to a score become one fewer, now
 * for some scores and then for all: the error there is often the largest of all below twice it. */
double omega_crossings(const Trials *trials, const OmegaOptions *options, size_t first,
                       size_t last);

/* Close to the ends, where the error is close to the tolerance: in steps, the next ones. */
double omega_near_ends(const Trials *trials, const OmegaOptions *options, size_t first,
                       size_t last);

#endif
