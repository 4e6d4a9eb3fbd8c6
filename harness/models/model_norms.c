/*
 * Norms that do not normalise: LayerNorm-free variants of GPT-2 keep their tensors, with eps = 1e12
 * and weights near 1e6, so that files and programs stay the same.
 */
#include "model_file.h"

#include <math.h>

/* Rows of a residual stream have variances up to some 1e4; eps is 1e-5 or so where norms are
 * meant. */
static const double EPS_FROM = 1e8;

static void widen(double *least, double *most, const double *gamma, size_t d)
{
    for (size_t c = 0; gamma != NULL && c < d; c++) {
        *least = fmin(*least, fabs(gamma[c]));
        *most = fmax(*most, fabs(gamma[c]));
    }
}

bool model_norms_in_name(double *least, double *most, const ModelFile *model, double eps)
{
    if (eps < EPS_FROM || model->depth == 0 ||
        (model->layers[0].ln1.w == NULL && model->layers[0].ln2.w == NULL)) {
        return false;
    }
    *least = INFINITY;
    *most = 0;
    for (size_t layer = 0; layer < model->depth; layer++) {
        widen(least, most, model->layers[layer].ln1.w, model->d);
        widen(least, most, model->layers[layer].ln2.w, model->d);
    }
    widen(least, most, model->ln_final.w, model->d);
    *least /= sqrt(eps);
    *most /= sqrt(eps);
    return true;
}
