/*
 * How a point is evaluated, by what it asks for: with how many bits and threads.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_MODE_H
#define HEADPROOF_HARNESS_EVALUATE_MODE_H

#include "../point/point.h"

/* Working precision of a point's reference before anything is known. */
typedef struct {
    double likely;     /* as a rule: for predictions of time, and where long evaluations begin */
    double difference; /* the same of the difference itself; else as likely */
    double most;       /* what it may rise to: for memory */
    double begin;      /* where radii begin: of what loses few bits, unless evaluating is long */
    double machine;    /* what a machine's errors take where nothing is lost before */
    double hidden;     /* and what the construction error takes there, by subtracting */
} PointBits;

/* The bits that a point begins with: those of --precision, or else enough for the digits, for
 * rounding errors and, unless a difference is evaluated by itself, 2 Omega log2 e more, so that
 * e^(-2 Omega) is seen behind r(T'); at most the cap.  The 2 Omega log2 e are given up where the
 * cap leaves no room for them. */
PointBits point_bits(const Point *point);

/* The bits to try next, at least 64 more for what is asked, where so many bits lack `more` and r(T)
 * lost so many, after so many raises.  0: none are, or none may be had.  Each raise is by all that
 * is known to lack, or to twice the bits where that is not known; but what lies on the point where
 * its digits change may never come out, so there are three at most, and none where nothing is known
 * of r(T), which has had its own. */
mpfr_prec_t point_bits_next(const Point *point, mpfr_prec_t bits, double more, double lost,
                            int raises);

/* Threads for a point's kernels: all that may be started here, or 1 for a small model. */
size_t point_threads(const Point *point);

/* Are coarse norms (RefBaseOptions) likely to serve with the bits that radii begin with? */
bool point_tries_coarse(const Point *point);

#endif
