/*
 * Points that are searched together: the worst error over all of them decides.
 *
 * They differ in their seed (min-omega) or in their input (verify) alone; what each shares with
 * itself at other Omegas is made once.
 */
#ifndef HEADPROOF_HARNESS_ENSEMBLE_H
#define HEADPROOF_HARNESS_ENSEMBLE_H

#include "evaluate.h"
#include "omega_search.h"

/* points [count] stay the caller's. */
typedef struct {
    const Point **points;
    Shared **shared;
    mpfr_t *errors; /* [count]: of the last evaluation */
    size_t count;
    int threads;
} Ensemble;

/* Room for capacity points; none yet.  false: memory is short (clear is fine). */
bool ensemble_init(Ensemble *ensemble, size_t capacity, int threads)
    __attribute__((warn_unused_result));

void ensemble_add(Ensemble *ensemble, const Point *point);

/* Forgets the points, keeps the room. */
void ensemble_release(Ensemble *ensemble);
void ensemble_clear(Ensemble *ensemble);

/* Makes what every point shares, with bits for the construction error at omega.  false: memory is
 * short. */
bool ensemble_open(Ensemble *ensemble, double omega) __attribute__((warn_unused_result));

/* The worst error of one kind and norm over the points, NaN if one is; each point's own is left
 * in errors.  false: memory is short. */
bool ensemble_worst(Ensemble *ensemble, mpfr_ptr worst, double omega, ErrorKind kind, Norm norm)
    __attribute__((warn_unused_result));

/* What a search found. */
typedef struct {
    OmegaSearch search;
    RefCell floor;    /* largest native error, where there is an arithmetic */
    double seed_rule; /* the seeds' ln(N / tolerance), which Omega is to exceed */
    bool has_scores;
    double seed_scores; /* and the largest |score| of T's heads, which it is to exceed too */
} Found;

void found_init(Found *found);
void found_clear(Found *found);

/* True when the error judged enters with the machine, so that it may rise with Omega. */
bool judge_needs_arithmetic(ErrorKind judge);

/* The largest Omega that a search for the tolerance evaluates in the reference. */
double omega_ahead(double tolerance);

/* Searches for the Omegas at which the points' judged error meets their tolerance; the ensemble is
 * open at omega_ahead(tolerance).  false: memory is short. */
bool ensemble_search(Ensemble *ensemble, Found *found) __attribute__((warn_unused_result));

#endif
