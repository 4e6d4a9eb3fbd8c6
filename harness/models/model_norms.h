/*
 * Faults of a model's layer norms that its numbers show.
 */
#ifndef HEADPROOF_HARNESS_MODELS_MODEL_NORMS_H
#define HEADPROOF_HARNESS_MODELS_MODEL_NORMS_H

#include "model_file.h"

/* Norms in name only: an eps so large that the variance of no row matters beside it, and weights
 * that undo it.  LayerNorm then subtracts the mean and multiplies by gamma / sqrt(eps), whatever x
 * is.  *least, *most: of |gamma| / sqrt(eps), over all norms; eps: the file's, or a flag's. */
bool model_norms_in_name(double *least, double *most, const ModelFile *model, double eps);

#endif
