/*
 * A pair of models that does not hold the weights of all its layers: they are drawn, or read from
 * their file, while a layer is evaluated.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_LAYERS_H
#define HEADPROOF_HARNESS_EVALUATE_LAYERS_H

#include "../../reference/reference.h"
#include "../point/model_source.h"

typedef struct Layers Layers;

/* Do they, for a case whose weights are from source, or, NULL, drawn? */
bool layers_come_and_go(const CaseSpec *spec, const ModelSource *source);

/* case_build of a case whose weights are from source, or, NULL, drawn.  *layers: what its layers
 * come from, NULL where all are there.  weights: the store of those that are packed, from which a
 * layer's are dropped when it goes; or NULL.  *pair stays where it is until layers_clear, which is
 * called before case_clear. */
CaseStatus layers_build(Pair *pair, Layers **layers, const CaseSpec *spec,
                        const ModelSource *source, RefWeights *weights)
    __attribute__((warn_unused_result));

/* NULL is fine. */
void layers_clear(Layers *layers);

/* From here on so many threads may be in layers at once (0: all): each holds a slot (base/slots.h)
 * from the first layer that it enters until layers_release, so that a layer is fetched once for
 * all. */
void layers_slots(Layers *layers, size_t slots);
void layers_release(Layers *layers);

#endif
