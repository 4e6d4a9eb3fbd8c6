/*
 * Rows of two runs of one thing, at other precisions or of a stream that was moved, against what
 * their radii say.  A ratio is |difference of a row| / (its radius, of both runs), in the 2-norm of
 * a bank.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_ENCLOSURES_H
#define HEADPROOF_TESTS_REFERENCE_ENCLOSURES_H

#include "../../cases/case.h"
#include "../../reference/radius/internal.h"
#include "../../reference/reference.h"
#include "difference_cases.h"

/* log2 |x|; -INFINITY of 0. */
double log2_of(mpfr_srcptr x);

/* An entry of what a radius is of. */
mpfr_srcptr radius_entry(const RefRun *run, RadiusOf of, size_t row, size_t column);

/* What is evaluated.  omega INFINITY: the limit; difference: it, and e for omega. */
typedef struct {
    const Model *model;
    const double *x, *content;
    double omega;
    bool difference;
} Evaluated;

/* Every evaluation of a pair. */
enum { PAIR_ORIGINAL, PAIR_ALONE, PAIR_BESIDE, PAIR_EVALUATIONS };
void evaluations_of(Evaluated all[PAIR_EVALUATIONS], const Pair *pair, double omega);

/* Opens it, with radii, at this x in place of its own. */
RefRun *evaluated_open(const Evaluated *e, const double *x, mpfr_prec_t bits);

/* Of rows: how many, of how many nothing is known, the largest ratio as a logarithm to base 2, and
 * where it was; the sum of their radii's logarithms. */
typedef struct {
    size_t rows, unknown;
    double log2_ratio, radii;
    char where[PLACE];
} Tally;

extern const Tally tally_none;

/* There were rows, and none was outside; report: and their radii are those that are recorded. */
void tally_holds(const char *what, const Tally *tally);
void tally_report(const char *what, const Tally *tally);

/* error is the norm of a row's difference, radius what it may be. */
void tally_row(Tally *tally, mpfr_srcptr error, mpfr_srcptr radius, const char *what);

/* A row of two runs, and every row. */
void tally_one(Tally *tally, const RefRun *a, const RefRun *b, RadiusOf of, size_t row,
               const char *what);
void tally_rows(Tally *tally, const RefRun *a, const RefRun *b, RadiusOf of, const char *what);

/* Evaluates every layer of two runs, compares all that is known of either, and clears them. */
void tally_layers(Tally *tally, RefRun *a, RefRun *b, const char *what);

/* The same of an evaluation and one of more than twice the bits. */
void tally_precisions(Tally *tally, const Evaluated *e, mpfr_prec_t bits, const char *what);

/* by [columns]: what row i of x is moved by, 2^-moved of its size, so that the sum is a double.
 * The norms of that, no less, in units of 2^-MOVED_BITS. */
enum { MOVED_BITS = 448, MOVED_MOST = 64 };
Banks moved_row(double *by, const Layout *layout, const double *x, size_t i, int moved);

/* An evaluation at x, which is told how far off it is, and one at what x was moved to. */
void tally_moved(Tally *tally, const Evaluated *e, int moved, const char *what);

#endif
