/*
 * A point of a sweep, and the rows it yields.
 */
#ifndef HEADPROOF_HARNESS_POINT_POINT_H
#define HEADPROOF_HARNESS_POINT_POINT_H

#include "../../cases/case.h"
#include "../../kernels/kernel.h"
#include "../../reference/reference.h"
#include "../base/domain.h"

#include <stdint.h>
#include <stdio.h>

typedef enum {
    REFERENCE_AUTO, /* what point_canonicalise turns into the best that the point's form allows */
    REFERENCE_SUBTRACT,
    REFERENCE_DIFFERENCE,
    REFERENCE_NONE, /* there is none: the machine's streams are compared with each other */
    REFERENCE_COUNT
} ReferenceMethod;

/* The axes, in grid order, the first slowest.  Up to AXIS_SEED they are key columns of a table, in
 * this order; the others share the column `options`. */
typedef enum {
    AXIS_CONSTRUCTION,
    AXIS_ACTIVATION,
    AXIS_MASK,
    AXIS_N,
    AXIS_D,
    AXIS_D_FF,
    AXIS_HEADS,
    AXIS_D_HEAD,
    AXIS_DEPTH,
    AXIS_OMEGA,
    AXIS_ARITHMETIC,
    AXIS_KERNEL,
    AXIS_REFERENCE,
    AXIS_WEIGHTS,
    AXIS_SEED,
    AXIS_BIAS,
    AXIS_SCALE,
    AXIS_ROTARY,
    AXIS_ROTARY_DIM,
    AXIS_ROPE_THETA,
    AXIS_ROTARY_TABLES,
    AXIS_PARALLEL,
    AXIS_NORMALIZATION,
    AXIS_NORMALIZATION_PLACE,
    AXIS_EPS,
    AXIS_NORMALIZE_BIAS_ROW,
    AXIS_INPUT,
    AXIS_LINEAR,
    AXIS_BIAS_ROW,
    AXIS_BIAS_ROW_CONTENT,
    AXIS_BIAS_SELF,
    AXIS_SLOPE,
    AXIS_GELU,
    AXIS_FFN,
    AXIS_READOUT,
    AXIS_TAU,
    AXIS_BAND,
    AXIS_HEAD_RANK,
    AXIS_SCORE_SCALE,
    AXIS_SHRINK,
    AXIS_PENALTY,
    AXIS_DROPOUT,
    AXIS_DROP_ENTRY,
    AXIS_WEIGHT_NOISE,
    AXIS_WEIGHTS_ROUNDED,
    AXIS_ROW,
    AXIS_PRECISION,
    AXIS_MAX_BITS,
    AXIS_TOLERANCE,
    AXIS_JUDGE,
    AXIS_NORM,
    AXIS_COUNT
} Axis;

/* Of a set of them. */
#define AXIS_BIT(axis) (UINT64_C(1) << (axis))

/* The error that a tolerance bounds: one of the streams (judge), or the largest error of a logit,
 * or the largest KL divergence from r(T) (nats), of m(T') at any position. */
typedef enum { JUDGE_STREAMS, JUDGE_LOGITS, JUDGE_KL } JudgeOf;

/* One point: everything that decides its rows.  Axes that do not matter to the construction
 * hold their defaults. */
typedef struct {
    CaseSpec spec;
    const struct ModelSource *source; /* the file its weights are from, or NULL */
    size_t input;                     /* the tuple of its tokens, from 1; 0: none */
    double omega;
    double shrink; /* see point_omega; 0: 1 */
    Penalty penalty;
    Arithmetic arithmetic;
    KernelForm kernel;    /* ignored without an arithmetic */
    bool weights_rounded; /* to what the arithmetic stores; spec's stored_digits follow */
    ReferenceMethod reference;
    size_t row;     /* the token compared, from 1; 0: all */
    long precision; /* bits; 0: auto */
    long max_bits;
    double tolerance;
    ErrorKind judge; /* ERROR_TOTAL where no stream is judged */
    JudgeOf judge_of;
    Norm norm;
    int digits;  /* of every error in its rows; 0: REF_DIGITS.  No axis: the numbers are the same */
    bool judged; /* a tolerance was given */
    bool propagation; /* --propagation, no axis: what other columns hold does not depend on it */
    bool over_tau;    /* a search is for tau, at its omega; no axis either */
    uint64_t asked;   /* bit a: a flag or its section set axis a; the rows are the same without */
} Point;

/* The Omega of T', the double nearest to omega times its factor, and that factor, shrink. */
double point_omega(const Point *point);
double point_factor(const Point *point);

/* Is its r(T') evaluated by the difference from r(T_infinity)? */
bool point_has_difference(const Point *point);

/* Is anything evaluated in the reference? */
bool point_has_reference(const Point *point);

/* Does its tolerance judge an error of its rows? */
bool point_judges_rows(const Point *point);

/* Digits of the errors in its rows. */
int point_digits(const Point *point);

/* The one command line that reproduces a point: "headproof sweep --construction ...". */
void point_print_command(FILE *file, const Point *point);

/* The flags of it, a blank before each: of the axes that are taken (NULL: all).  seeds: what
 * --seed is given in place of the point's own, or NULL. */
void point_print_flags(FILE *file, const Point *point, bool taken(Axis axis), const char *seeds);

/* Worst first. */
typedef enum {
    STATUS_ERROR,
    STATUS_OVERFLOW,
    STATUS_FAIL,
    STATUS_VACUOUS,
    STATUS_UNRESOLVED,
    STATUS_OK
} Status;

/* One CSV row: the state after one layer of one point's stack. */
typedef struct {
    size_t layer; /* from 1 */
    RefErrors errors;
    bool has_identical;
    double identical; /* share of bit-equal entries, in [0, 1] */
    long precision_bits;
    long difference_bits; /* of e; 0: there is none */
    Status status;
} Row;

/* point: whose it is. */
void row_init(Row *row, const Point *point);
void row_clear(Row *row);

const char *status_name(Status status);

/* Why a row has the status `error`, whose cells cannot tell. */
#define STATUS_ERROR_WHY                                                                           \
    "nothing is known: a number left the reference's range, or a proven zero was not one"

/* ---- Its axes -------------------------------------------------------------------------------- */

/* The value a point has on an axis; d_ff resolved to an integer. */
AxisValue point_get(const Point *point, Axis axis);

/* text = that value, "" where it does not matter; point NULL: the axis's name. */
void point_print_value(char text[VALUE_TEXT], const Point *point, Axis axis);

/* Sets it.  A d_ff of 4D takes the point's d, so d comes first.  Weights from a path
 * are those of the point's source. */
void point_set(Point *point, Axis axis, AxisValue value);

/* The axis's value when nobody says one: d_ff is 4D; judge is total, or construction where there is
 * no arithmetic to have a total; scale is what the weights file says. */
AxisValue point_default(const Point *point, Axis axis);

/* False when the axis changes nothing in the point's rows: it is blank in a table. */
bool point_axis_matters(const Point *point, Axis axis);

/* point_axis_matters, and not the default. */
bool point_axis_differs(const Point *point, Axis axis);

/* Is it in a row's key: not the default, or one that a reader of the row cannot know? */
bool point_axis_tells(const Point *point, Axis axis);

/* Gives every axis that does not matter its default, and what can be said in two ways one of them.
 * Afterwards points that yield the same rows are equal in every axis. */
void point_canonicalise(Point *point);

/* Orders canonical points as a grid does; 0 when they are the same. */
int point_compare(const Point *a, const Point *b);

/* An order in which points that share a base trajectory are neighbours; 0: they do. */
int point_compare_bases(const Point *a, const Point *b);

#endif
