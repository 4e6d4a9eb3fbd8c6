/*
 * Evaluated Omegas in order, and what they say by themselves: which is the best, and which run of
 * neighbours around it met the tolerance.  Nothing is said of an Omega that was not evaluated.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_OMEGA_TRIALS_H
#define HEADPROOF_HARNESS_EVALUATE_OMEGA_TRIALS_H

#include <mpfr.h>
#include <stdbool.h>
#include <stddef.h>

/* The most that one search evaluates. */
enum { OMEGA_EVALUATIONS = 200 };

/* One evaluated Omega. */
typedef struct {
    double omega;
    mpfr_t error;
} Trial;

void trial_init(Trial *trial);
void trial_set(Trial *to, const Trial *from);
void trial_clear(Trial *trial);

typedef struct {
    Trial trial[OMEGA_EVALUATIONS]; /* [count], rising in omega */
    size_t count;
    size_t
        best; /* of the smallest error, of equals the smallest Omega; count: no error is a number */
    double tolerance;
} Trials;

void trials_init(Trials *trials, double tolerance);
void trials_clear(Trials *trials);

/* Puts an Omega that is not there yet in its place; count < OMEGA_EVALUATIONS. */
void trials_add(Trials *trials, double omega, mpfr_srcptr error);

/* A number, and at most the tolerance. */
bool trials_meet(const Trials *trials, size_t i);

/* The neighbours of the best that all meet the tolerance, it among them.  false: it does not. */
bool trials_run(const Trials *trials, size_t *first, size_t *last);

/* Is one from low to high, both included? */
bool trials_within(const Trials *trials, double low, double high);

/* How close to the tolerance the error of trial i is: error / tolerance. */
double trials_share(const Trials *trials, size_t i);

#endif
