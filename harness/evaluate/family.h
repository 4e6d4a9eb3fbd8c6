/*
 * The part that inputs of one model share: its pair of models, and measures of its weights: norms,
 * and how products take them.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_FAMILY_H
#define HEADPROOF_HARNESS_EVALUATE_FAMILY_H

#include "layers.h"

typedef struct Family Family;

/* For members that differ from this one in given->x alone.  bytes: what the weights may take
 * besides the pair's own.  NULL when its layers cannot be had. */
Family *family_make(const Point *member, double bytes) __attribute__((warn_unused_result));
void family_clear(Family *family);

/* The layers of its pair, which come and go; NULL: all are there. */
Layers *family_layers(const Family *family);

/* At the first member. */
const Pair *family_pair(const Family *family);
RefWeights *family_weights(const Family *family);

/* Bytes, as a double. */
double family_bytes(const Family *family);

#endif
