/*
 * What gated heads make of e's radii (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_GATES_CHANGE_H
#define HEADPROOF_REFERENCE_RADIUS_GATES_CHANGE_H

#include "gates.h"

/* All rows, after those of the stream. */
void gates_change(Gates *gates, Radius *r);

#endif
