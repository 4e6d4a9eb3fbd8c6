/*
 * The search for Omega: an interval of Omegas whose error was within a tolerance wherever it was
 * evaluated, and the best Omega evaluated.
 *
 * As a rule the error falls with Omega (construction, e^(-2 Omega)), is flat, and rises (rounding,
 * ulp(2 Omega)); each side may be missing, and rounding makes it jagged.  So the rule only says
 * where to look.  What is claimed follows from evaluated Omegas alone: from min to max, `inside` of
 * them were evaluated and all met the tolerance, the neighbours below and above did not.  Nothing
 * is proven of what lies between two evaluated Omegas.
 *
 * Every evaluated Omega is a decimal of few digits, so that what is printed is what was evaluated.
 *
 * The same rules search any other constant that a point has one of.  Of one that is a power of two,
 * as tau, all are evaluated inside, where they are no more than is wanted.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_OMEGA_SEARCH_H
#define HEADPROOF_HARNESS_EVALUATE_OMEGA_SEARCH_H

#include "../../kernels/arithmetic.h"
#include "../../reference/reference.h"

/* The most that one search evaluates. */
enum { OMEGA_EVALUATIONS = 200 };

/* One evaluated Omega. */
typedef struct {
    double omega;
    RefCell error;
} Trial;

/* error = the judged error at omega, in the cell's digits; false stops the search (memory). */
typedef bool OmegaError(void *context, RefCell *error, double omega);

/* The range of Omega, in 8 digits: all that a user may ask for. */
#define OMEGA_LEAST 2.2250739e-308
#define OMEGA_MOST 1.7976931e308

typedef struct {
    double tolerance;
    double guess;       /* > 0: where to begin */
    double least, most; /* what is tried at the ends: within OMEGA_LEAST and OMEGA_MOST */
    int digits;         /* significant ones of every Omega evaluated */
    bool powers;        /* it is tau that is searched: a power of two, whatever digits says */
    double bracket;     /* an end is known when its two sides agree to this, relative */
    size_t inside;      /* evaluations wanted in the interval */
    size_t evaluations; /* at most, OMEGA_EVALUATIONS or less */
    bool rises;         /* the error may rise again: the whole range is scanned */
    bool curve;         /* below the interval it falls as the master curve, C e^(-2 Omega), does */
    /* The format that 2 factor Omega is rounded to, where that has few digits, so that the error is
     * a step function of Omega; NULL: it has many. */
    const FormatInfo *format;
    double factor;
} OmegaOptions;

/* All zero before a search; it stays where it is. */
typedef struct {
    Trial trial[OMEGA_EVALUATIONS]; /* [evaluations], rising in omega */
    size_t evaluations;
    const Trial *best;          /* the smallest error of all; NULL: none is a number */
    const Trial *min, *max;     /* the ends of the interval; NULL: none meets the tolerance */
    const Trial *below, *above; /* their neighbours, which do not; NULL: none was tried there */
    bool open_min, open_max;    /* the evaluations ended before this end was known to its bracket */
    bool open_inside;           /* and before as many as wanted were inside */
    bool powers;                /* the options' */
    size_t inside;              /* from min to max; 0: none is found */
    const FormatInfo *format;   /* the options' */
    double steps; /* of it: the numbers of the format that 2 factor Omega is rounded to from min to
                   * max, and on how many of them some Omega was evaluated */
    size_t stepped;
} OmegaSearch;

void omega_search_clear(OmegaSearch *search);

/* Where the master curve through an error at an Omega, ln err = ln C - 2 Omega, meets a
 * tolerance. */
double omega_meets(double omega, const RefCell *error, double tolerance);

/* false: the evaluation stopped. */
bool omega_search(OmegaSearch *search, OmegaError *error, void *context,
                  const OmegaOptions *options) __attribute__((warn_unused_result));

#endif
