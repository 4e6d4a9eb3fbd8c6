/*
 * The axes of a point: read, set, defaulted, blank where they do not matter, compared.
 */
#ifndef HEADPROOF_HARNESS_GRID_POINT_AXES_H
#define HEADPROOF_HARNESS_GRID_POINT_AXES_H

#include "axes.h"

/* The value a point has on an axis; d_ff resolved to an integer. */
AxisValue point_get(const Point *point, Axis axis);

/* Sets it.  A d_ff of 4D takes the point's d, so d comes first.  Weights from a path are the
 * point's once point_set_source has set them. */
void point_set(Point *point, Axis axis, AxisValue value);

/* The axis's value when nobody says one: d_ff is 4D; judge is total, or construction where there is
 * no arithmetic to have a total; scale is what the weights file says. */
AxisValue point_default(const Point *point, Axis axis);

/* False when the axis changes nothing in the point's rows: it is blank in a table. */
bool point_axis_matters(const Point *point, Axis axis);

/* point_axis_matters, and not the default. */
bool point_axis_differs(const Point *point, Axis axis);

/* Is it in a row's key: not the default, or one that whoever reads the row cannot know? */
bool point_axis_tells(const Point *point, Axis axis);

/* Is it in a row's options: in its key, or set by whoever asked for the point? */
bool point_axis_is_said(const Point *point, Axis axis);

/* Gives every axis that does not matter its default, and what can be said in two ways one of them.
 * Afterwards points that yield the same rows are equal in every axis. */
void point_canonicalise(Point *point);

/* Orders canonical points as a grid does; 0 when they are the same. */
int point_compare(const Point *a, const Point *b);

#endif
