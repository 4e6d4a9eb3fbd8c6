/*
 * Points that are searched together: the worst error over all of them decides.
 *
 * They differ in their seed (min-omega) or in their input (verify) alone.  What evaluations of one
 * member at several Omegas share is made once, and kept while there is room for it.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_ENSEMBLE_H
#define HEADPROOF_HARNESS_EVALUATE_ENSEMBLE_H

#include "evaluate.h"
#include "omega_search.h"
#include "../base/progress.h"

#include <pthread.h>

typedef struct Ensemble Ensemble;

/* The judged error over all members at an Omega, of m(T'), or where native of m(T).  false: a layer
 * cannot be had. */
typedef bool EnsembleError(Ensemble *ensemble, RefCell *error, double omega, bool native);

struct Ensemble {
    const Point **points; /* [count], the caller's */
    Shared **shared;      /* [count] what a member's evaluations share; NULL from kept on, and then
                             made anew at every use, as all are where tau is searched */
    RefCell *errors;      /* [count] of the last evaluation */
    ErrorKind kind;       /* of it */
    Norm norm;
    size_t count, kept;
    double bits_omega; /* bases have the bits for the construction error at this Omega */
    double tape_room;  /* see shared_make: what leaves room for all members' */
    bool tapeless;     /* set before ensemble_size: there is to be none */
    /* Set before ensemble_size: bytes that a kept member takes besides what is shared. */
    double member_bytes;
    int threads;
    int together;     /* so many members at once, where layers are fetched, if more than threads */
    const bool *done; /* [count] members that ensemble_each passes over; or NULL */
    EnsembleError *judged; /* what is judged in place of the points' own errors; or NULL */
    void *judged_context;  /* its own */
    const Shared *family;  /* of members that differ in their input alone, the caller's; or NULL */
    Progress *progress;    /* gets one unit whenever a member is done with; or NULL */
    pthread_mutex_t *progress_lock; /* of that, where there is one */
    double unit_cost;
};

/* Room for capacity points; none yet. */
void ensemble_init(Ensemble *ensemble, size_t capacity, int threads);

void ensemble_add(Ensemble *ensemble, const Point *point);

/* Drops what members share; the points stay. */
void ensemble_close(Ensemble *ensemble);
void ensemble_clear(Ensemble *ensemble);

/* How many members' shared parts fit in so many bytes beside those in use by the threads: makes the
 * first one's, with bits for the construction error at omega, to see what one takes.  false: memory
 * is short. */
bool ensemble_size(Ensemble *ensemble, double omega, double room)
    __attribute__((warn_unused_result));

/* Makes what the kept members share, after ensemble_size.  false: a layer cannot be had. */
bool ensemble_open(Ensemble *ensemble) __attribute__((warn_unused_result));

/* Work on member i, given what its evaluations share and its point at the Omega asked for.  Called
 * from several threads at once.  false: a layer cannot be had. */
typedef bool MemberWork(void *context, size_t i, const Shared *shared, const Point *point);

/* Does the work on every member.  false: a layer cannot be had. */
bool ensemble_each(Ensemble *ensemble, double omega, MemberWork *work, void *context)
    __attribute__((warn_unused_result));

/* The worst error of one kind and norm over the points, NaN if one is, in the cell's digits; each
 * point's own is left in errors.  false: a layer cannot be had. */
bool ensemble_worst(Ensemble *ensemble, RefCell *worst, double omega, ErrorKind kind, Norm norm)
    __attribute__((warn_unused_result));

/* The answer of a search. */
typedef struct {
    OmegaSearch search;
    size_t evaluations; /* of all members: the search's, for a first guess and for the floor */
    RefCell floor;      /* largest native error, where there is an arithmetic */
    double seed_rule;   /* ln(N / tolerance), which the first texts say that Omega is to exceed */
    bool has_scores;
    double seed_scores; /* and the largest |score| of T's heads, which it is to exceed too */
} Found;

void found_init(Found *found);
void found_clear(Found *found);

/* True when the error judged enters with the machine, so that it may rise with Omega. */
bool judge_needs_arithmetic(ErrorKind judge);

/* The largest Omega that a search for the tolerance evaluates in the reference. */
double omega_ahead(double tolerance);

/* About how many evaluations of all members ensemble_search takes: many where rounding makes the
 * error rise again, few along the master curve, C e^(-2 Omega). */
double ensemble_search_evaluations(const Point *point);

/* Sets the range of Omega, so that the one that T' gets of it (point_omega, a multiple of it) is
 * within the doubles, and its steps where the error rises again. */
void ensemble_range(OmegaOptions *options, const Ensemble *ensemble);

/* OmegaError, context an Ensemble that is open: what is judged, over all members. */
bool ensemble_judged_error(void *context, RefCell *error, double omega)
    __attribute__((warn_unused_result));

/* Searches for the Omegas, or of points over_tau the taus, at which the points' judged error meets
 * their tolerance, in OMEGA_EVALUATIONS or less with those for a first guess and for the floor; the
 * ensemble is open at omega_ahead(tolerance).  false: a layer cannot be had. */
bool ensemble_search(Ensemble *ensemble, Found *found) __attribute__((warn_unused_result));

#endif
