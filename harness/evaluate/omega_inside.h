/*
 * A search in progress, and the inside of its interval (private to the search).
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_OMEGA_INSIDE_H
#define HEADPROOF_HARNESS_EVALUATE_OMEGA_INSIDE_H

#include "omega_search.h"

typedef struct {
    const OmegaOptions *options;
    Trial *trial; /* [count], the result's: rising in omega */
    size_t count;
    /* Of the smallest error, of equals at the smallest Omega; count: no error is a number. */
    size_t best;
    size_t first, last; /* the trials around the best that all meet the tolerance, if it does */
    double up, down;    /* the next factors beyond what has been tried: each is the last, squared */
    int tries;          /* of the curve or around the best, while nothing meets the tolerance */
    int steep;          /* of the curve at the lower end */
    bool last_met;      /* the last Omega evaluated met the tolerance */
} Trials;

/* Puts an Omega that is not there yet in its place; count < OMEGA_EVALUATIONS. */
void trials_add(Trials *trials, double omega, const RefCell *error);

/* Is an error a number, and at most the tolerance? */
bool trials_meet(const Trials *trials, const RefCell *error);

/* Sets first and last.  false: the best does not meet the tolerance. */
bool trials_run(Trials *trials);

/* Is one from low to high, both included? */
bool trials_within(const Trials *trials, double low, double high);

/* Each of these says which Omega to evaluate next: one that was not evaluated, or 0: none.
 * omega_fresh: the one asked for, in as many digits as the options say but at the ends of the
 * range; omega_middle: between trials i and i + 1, by ratio. */
double omega_fresh(const Trials *trials, double omega);
double omega_middle(const Trials *trials, size_t i);

/* For an end between trials i and i + 1: the middle; in steps, until the two are neighbours, and
 * then both sides of the edge between them. */
double omega_toward_end(const Trials *trials, size_t i);

/* In the interval, until there are as many as wanted, or half of them: the purposes take turns. */
double omega_all_inside(Trials *trials);
double omega_half_inside(Trials *trials);

/* Around the powers of two, where the digits that 2 Omega leaves to a score become one fewer, now
 * for some scores and then for all: the error there is often the largest of all below twice it. */
double omega_crossings(Trials *trials);

/* Close to the ends, where the error is close to the tolerance: in steps, the next ones. */
double omega_near_ends(Trials *trials);

/* Which of the format's numbers Omega becomes, counted from 0 up. */
double omega_step(const OmegaOptions *options, double omega);

#endif
