/*
 * The axes of a sweep: one table that drives the flags, the keys of case files, the help, the
 * key columns of tables and their `options` column, and how a point holds each.
 *
 * A new one is a field of Point or CaseSpec, its name in point.h, a row in axes.c, and its use.
 */
#ifndef HEADPROOF_HARNESS_POINT_AXES_H
#define HEADPROOF_HARNESS_POINT_AXES_H

#include "../base/domain.h"
#include "point.h"

/* Subjects of axes: commands take or refuse axes by them. */
enum {
    ROLE_SIZE = 1,       /* sizes and counts hang on it */
    ROLE_INPUTS = 2,     /* its values hang on n, which a model's inputs decide */
    ROLE_OMEGA = 4,      /* Omega itself */
    ROLE_MACHINE = 8,    /* how the machine evaluates */
    ROLE_REFERENCE = 16, /* what the reference is compared with, and how */
    ROLE_ROW = 32,       /* the row compared */
    ROLE_BITS = 64,      /* how far the reference may go */
    ROLE_JUDGED = 128,   /* the verdict */
    ROLE_FORM = 256,     /* what T' is written as, where its function is the same */
    ROLE_MEASURE = 512   /* what a tolerance is for */
};

typedef struct {
    const char *name;   /* of the flag and of the key */
    const char *column; /* of a table, or NULL: in `options` */
    Domain domain;
    AxisValue standard; /* the default */
    const char *help;
    bool scalar;      /* one value a section, not a list */
    bool automatic;   /* the default is a word for what point_default finds, once all is set */
    bool base_free;   /* points that differ in it share a base */
    bool always_said; /* in a point's command line, default or not */
    bool of_file;     /* the default is what a weights file says, which no reader of a table has */
    unsigned roles;

    /* The field of Point that holds the value: an integer of so many bytes, or a double where the
     * domain is DOMAIN_POSITIVE.  Where words stand beside numbers, 0 is the first word. */
    size_t offset, bytes;                 /* bytes 0: there is no field */
    double zero;                          /* what a 0 in the field stands for, or 0: itself */
    AxisValue (*get)(const Point *point); /* in place of the field, or NULL */
    void (*set)(Point *point, AxisValue value);

    AxisValue (*standard_of)(const Point *point); /* a default that hangs on the point, or NULL */
    bool (*matters)(const Point *point);          /* see point_axis_matters; NULL: always */
} AxisInfo;

/* axis < AXIS_COUNT. */
const AxisInfo *axis_info(Axis axis);

/* The axis of that name; AXIS_COUNT when there is none. */
Axis axis_find(const char *name);

#endif
