/*
 * The original's own operations (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_DIRECT_H
#define HEADPROOF_REFERENCE_RADIUS_DIRECT_H

#include "internal.h"

/* A sublayer that is one of them. */
void radius_direct(Radius *r, const Direct *direct);

#endif
