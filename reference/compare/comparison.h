/*
 * Differences of two sides in three norms, and the streams whose differences are the errors, with
 * what they may be off by (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_COMPARISON_H
#define HEADPROOF_REFERENCE_COMPARE_COMPARISON_H

#include "../run/run.h"
#include "../trajectory/base.h"

/* One side of a difference, of which a layer's columns are compared: a matrix or a machine's
 * stream, or, of neither, nothing.  row, column: of token 0's entry in the first of those. */
typedef struct {
    const ApMat *mat;
    const MachineView *machine;
    size_t row, column;
} Side;

/* Entries first, ..., first + count - 1 of token i's row, of the columns compared. */
typedef struct {
    size_t i, first, count;
} RowPart;

/* d = those of a side that is something. */
void side_take(mpfr_ptr d, const Side *side, const RowPart *part);

/* d -= those of any side. */
void side_subtract(mpfr_ptr d, const Side *side, const RowPart *part);

/* A stream after a layer, where there is one, and the most that entries of it, or of a difference,
 * are off by: any one; all that are compared, as the root of the sum of squares. */
typedef struct {
    bool there;
    Side side;
    mpfr_t error, root;
} Stream;

/* One kind of error: a - b, off by what that stream is (NULL: exact); proven_zero: exactly 0. */
typedef struct {
    ErrorKind kind;
    Side a, b;
    const Stream *off;
    bool proven_zero;
    double lacking, hidden; /* see RefErrors */
} Question;

/* What the six errors of one layer have in common. */
typedef struct {
    RefErrors *errors;
    const RefLayer *at;
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

/* An infinite radius becomes 2^CELL_UNKNOWN. */
void comparison_limit(mpfr_ptr error);

/* One kind more. */
void comparison_ask(Comparison *comparison, Question question);

/* The norms of all that was asked, into the errors. */
void comparison_answer(Comparison *comparison);

/* r(T), r(T_infinity), r(T'). */
typedef struct {
    Stream original, limit, converted;
    Stream e, both; /* errors of e, and of r(T_infinity) - r(T) */
} Streams;

/* Those that base and run have, of which `proven` holds. */
void streams_set(Streams *streams, const Comparison *comparison, int proven);

/* What the rows compared are off by: of the run, of that; radius: or of a base, [n, 1]. */
void stream_radius(Stream *stream, const Comparison *comparison, RadiusOf of, const ApMat *radius);

/* sum = what the difference of two streams may be off by. */
void stream_add_errors(Stream *sum, const Stream *a, const Stream *b);

#endif
