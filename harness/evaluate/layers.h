/*
 * A pair of models that does not hold the weights of all its layers: they are drawn, or read from
 * their file, while a layer is evaluated.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_LAYERS_H
#define HEADPROOF_HARNESS_EVALUATE_LAYERS_H

#include "../grid/model_source.h"

typedef struct Layers Layers;

/* case_build of a case whose weights are from source, or, NULL, drawn.  *layers: what its layers
 * come from, NULL where all are there.  *pair stays where it is until layers_clear, which is called
 * before case_clear. */
CaseStatus layers_build(Pair *pair, Layers **layers, const CaseSpec *spec,
                        const ModelSource *source) __attribute__((warn_unused_result));

/* NULL is fine. */
void layers_clear(Layers *layers);

#endif
