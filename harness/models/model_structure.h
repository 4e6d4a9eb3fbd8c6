/*
 * Tensors that change what a model computes, and that no construction has (private to the reading
 * of model files).
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_STRUCTURE_H
#define HEADPROOF_HARNESS_MODELS_MODEL_STRUCTURE_H

#include <stddef.h>

/* The structure that a tensor of that name is, "layer norm" or "gate" or the like, for a message;
 * NULL where the name says nothing of the kind.  Letters' case, dots, dashes, underscores, digits
 * and CamelCase make no difference.  A name that only looks so is one too: a tensor that is refused
 * by mistake can be removed, but one that is skipped by mistake gives a verdict about another
 * model. */
const char *structure_of(const char *name);

/* How much such a name says, 0 most, so that of several the one is told that says what the model
 * is; SIZE_MAX where structure_of is NULL. */
size_t structure_rank(const char *name);

#endif
