/*
 * Evaluation of points: what points of one case share, and the rows of one point.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_EVALUATE_H
#define HEADPROOF_HARNESS_EVALUATE_EVALUATE_H

#include "../table/checkpoint.h"
#include "../grid/point.h"

/* What all points of one CaseSpec share: the pair, the plan, the base trajectory, and the
 * original's machine trajectories. */
typedef struct Shared Shared;

typedef enum { EVALUATE_OK, EVALUATE_NO_MEMORY } EvaluateStatus;

/* For points[0 .. count - 1], which agree in spec and form; the base gets the bits that the
 * most demanding of them needs.  sweep: each is evaluated once, at its own Omega.  tape_room: bytes
 * that the limit's evaluation may take, so that differences at many Omegas share it; 0 where there is
 * but one.  checkpoints: where this and the points' evaluations are kept on the way, or NULL. */
EvaluateStatus shared_make(Shared **shared, const Point *const *points, size_t count, bool sweep,
                           double tape_room, Checkpoints *checkpoints)
    __attribute__((warn_unused_result));

/* tape_room for a group of so many points, of the memory that may be used. */
double shared_tape_room(double memory, size_t points);
void shared_clear(Shared *shared);

/* Bytes that it holds, as a double. */
double shared_bytes(const Shared *shared);

/* Called with each row, from layer 1 on; false stops the evaluation. */
typedef bool RowSink(void *context, const Point *point, const Row *row);

/* Evaluates one point: precision as the point says or as planned, raised where a value that was
 * promised did not come out, and where the judged error is a bound above the tolerance, until it is a
 * value or within.  *passed: no row fails (see row_passes). */
EvaluateStatus point_evaluate(bool *passed, const Shared *shared, const Point *point, RowSink *sink,
                              void *context) __attribute__((warn_unused_result));

/* Fills in what follows from a row's errors: ulps, logarithm, status. */
void row_finish(const Point *point, Row *row);

/* The tolerance's verdict on a row.  Without a tolerance: no error, overflow or exceeded
 * bound.  With one: the judged cell is a number and <= tolerance, its upper bound where it is
 * unresolved, and the comparison is not vacuous.  NaN never passes. */
bool row_passes(const Point *point, const Row *row);

/* The point's judged error in one number: the largest over all layers, upper bounds where
 * unresolved; NaN where a machine value is not finite or the norm does not exist.  r(T') is
 * evaluated only for the kinds that need it. */
EvaluateStatus point_worst_error(mpfr_ptr worst, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* The same as a cell, which may be 0 by proof or a bound; worst->value is initialised. */
EvaluateStatus point_worst_cell(RefCell *worst, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* m(T'): the last token's row of the stream after the last layer, x [d]. */
EvaluateStatus point_final_row(double *x, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* r(T): entry c of that row. */
mpfr_srcptr shared_final_original(const Shared *shared, size_t c);

/* Bytes: of what a point shares with its group, of the tape that it may share too, of its kernel, of
 * the rest. */
typedef struct {
    double base, tape, kernel, run;
} PointBytes;

/* What shared_make and point_evaluate of this point will take at most; a rejected case gives its
 * reason.  Nothing is evaluated. */
CaseStatus point_predict(PointBytes *bytes, const char **reason, const Point *point)
    __attribute__((warn_unused_result));

#endif
