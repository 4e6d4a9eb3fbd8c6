/*
 * Differences of two sides in three norms (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_COMPARISON_H
#define HEADPROOF_REFERENCE_COMPARE_COMPARISON_H

#include "../run/run.h"

/* One side of a difference: a stored matrix, a run, what a run carries as its difference or that
 * is from, a machine's stream, or nothing. */
typedef struct {
    const ApMat *mat, *radius; /* radius: of its rows */
    const RefRun *run, *difference, *limit;
    const MachineView *machine;
    bool nothing;
} Side;

/* What entries may be off by: any one; all of them together, as the root of the sum of squares;
 * NULL: none is. */
typedef struct {
    mpfr_srcptr entry, root;
} Off;

/* One kind of error: a - b, known to +-off; proven_zero: exactly 0. */
typedef struct {
    ErrorKind kind;
    Side a, b;
    Off off;
    bool proven_zero;
    double lacking, hidden, noise; /* see RefErrors */
} Question;

/* What every kind of error shares after one layer. */
typedef struct {
    RefErrors *errors;
    RefRows rows;
    Columns columns;
    mpfr_prec_t bits;          /* holds any difference's leading bits */
    mpfr_srcptr norm_original; /* Frobenius norm of r(T) */
    mpfr_srcptr norm_off;      /* what that may be off by */
    Question question[ERROR_KINDS];
    size_t count;
} Comparison;

/* By how much less than 1 a norm's relative rounding errors are: of REF_CELL_BITS bits, and of
 * entries with 64 bits more than the streams have. */
enum { COMPARED_BITS = 120 };

/* An infinite radius becomes a number far beyond any stream's. */
void comparison_limit(mpfr_ptr error);

/* An entry of a side that is a matrix or a run's. */
mpfr_srcptr comparison_entry(const Side *side, Columns columns, size_t i, size_t c);

/* One kind more. */
void comparison_ask(Comparison *comparison, ErrorKind kind, Side a, Side b, Off off,
                    bool proven_zero);

/* The norms of all that was asked, into the errors. */
void comparison_answer(Comparison *comparison);

#endif
