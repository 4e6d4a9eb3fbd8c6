/*
 * Layer norms: what they do to the radii (private to reference/radius/).
 */
#ifndef HEADPROOF_REFERENCE_RADIUS_LAYER_NORM_H
#define HEADPROOF_REFERENCE_RADIUS_LAYER_NORM_H

#include "internal.h"

/* The sublayer reads norm(x), r->norm: radii and points become those of what it reads. */
void radius_read_normed(Radius *r);

/* x = norm(x). */
void radius_normalise(Radius *r, const LayerNorm *norm);

#endif
