/*
 * Gated heads' weights side by side (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_GATES_OPEN_H
#define HEADPROOF_REFERENCE_RADIUS_GATES_OPEN_H

#include "gates.h"

/* The heads of a bundle, with their norms and room for the rows of r.  False: they are none that
 * the constructions make, or memory is short; clear them even so. */
bool gates_open(Gates *gates, Radius *r, const Bundle *bundle) __attribute__((warn_unused_result));
void gates_clear(Gates *gates);

#endif
