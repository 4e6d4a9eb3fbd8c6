/*
 * Gated heads' weights side by side (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_GATES_OPEN_H
#define HEADPROOF_REFERENCE_RADIUS_GATES_OPEN_H

#include "gates.h"

/* Are they heads that the constructions make: a value of one coordinate, gate and value of the same
 * columns? */
bool gates_supported(const Bundle *bundle);

/* Such heads, with their norms and room for the rows of r.  False: memory is short; clear them even
 * so. */
bool gates_open(Gates *gates, Radius *r, const Bundle *bundle) __attribute__((warn_unused_result));
void gates_clear(Gates *gates);

#endif
