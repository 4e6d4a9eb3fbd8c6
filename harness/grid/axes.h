/*
 * The axes of a sweep: one table that drives the flags, the keys of case files, the help, the
 * key columns of tables and their `options` column.
 */
#ifndef HEADPROOF_HARNESS_GRID_AXES_H
#define HEADPROOF_HARNESS_GRID_AXES_H

#include "../base/domain.h"
#include "point.h"

/* In grid order, the first slowest.  Up to AXIS_SEED they are key columns of a table, in this
 * order; the others share the column `options`. */
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
    AXIS_NORMALIZATION,
    AXIS_INPUT,
    AXIS_LINEAR,
    AXIS_BIAS_ROW,
    AXIS_BIAS_ROW_CONTENT,
    AXIS_SLOPE,
    AXIS_GELU,
    AXIS_BAND,
    AXIS_HEAD_RANK,
    AXIS_SCORE_SCALE,
    AXIS_SHRINK,
    AXIS_DROPOUT,
    AXIS_DROP_ENTRY,
    AXIS_WEIGHT_NOISE,
    AXIS_REFERENCE_FORM,
    AXIS_ROW,
    AXIS_PRECISION,
    AXIS_MAX_BITS,
    AXIS_TOLERANCE,
    AXIS_JUDGE,
    AXIS_NORM,
    AXIS_COUNT
} Axis;

/* What an axis is about: commands take or refuse axes by it. */
enum {
    ROLE_SIZE = 1,       /* sizes and counts hang on it */
    ROLE_INPUTS = 2,     /* its values hang on n, which a model's inputs decide */
    ROLE_OMEGA = 4,      /* Omega itself */
    ROLE_MACHINE = 8,    /* how the machine evaluates */
    ROLE_REFERENCE = 16, /* what the reference is compared with, and how */
    ROLE_ROW = 32,       /* the row compared */
    ROLE_BITS = 64,      /* how far the reference may go */
    ROLE_JUDGED = 128    /* the verdict */
};

typedef struct {
    const char *name;   /* of the flag and of the key */
    const char *column; /* of a table, or NULL: in `options` */
    Domain domain;
    AxisValue standard; /* the default */
    const char *help;
    bool scalar;    /* one value a section, not a list */
    bool automatic; /* the default is a word for what point_default finds, once all is set */
    unsigned roles;
} AxisInfo;

/* axis < AXIS_COUNT. */
const AxisInfo *axis_info(Axis axis);

/* The axis of that name; AXIS_COUNT when there is none. */
Axis axis_find(const char *name);

/* The names, for suggestions. */
void axis_names(const char *names[AXIS_COUNT]);

/* The value a point has on an axis; d_ff resolved to an integer. */
AxisValue point_get(const Point *point, Axis axis);

/* Sets it.  A d_ff of 4D takes the point's d, so d comes first.  Weights from a path are the
 * point's once point_set_source has set them. */
void point_set(Point *point, Axis axis, AxisValue value);

/* What the axis is when nobody says: d_ff is 4D; judge is total, or construction where there is
 * no arithmetic to have a total; scale is what the weights file says. */
AxisValue point_default(const Point *point, Axis axis);

/* False when the axis changes nothing in the point's rows: it is blank in a table. */
bool point_axis_matters(const Point *point, Axis axis);

/* point_axis_matters, and not the default. */
bool point_axis_differs(const Point *point, Axis axis);

/* Gives every axis that does not matter its default, and what can be said in two ways one
 * spelling; after it, points that yield the same rows are equal in every axis. */
void point_canonicalise(Point *point);

/* Orders canonical points as a grid does; 0 when they are the same. */
int point_compare(const Point *a, const Point *b);

#endif
