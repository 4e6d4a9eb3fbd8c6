/*
 * Heads without content scores (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_LINEAR_H
#define HEADPROOF_REFERENCE_RADIUS_LINEAR_H

#include "internal.h"

/* A sublayer's linear heads together, with what the stream itself becomes. */
void radius_linear(Radius *r, const Sublayer *sublayer);

#endif
