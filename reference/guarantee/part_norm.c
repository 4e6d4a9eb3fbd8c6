/*
 * The norm that a sublayer reads through, the bank it is over, and what it makes of weights.
 */
#include "part.h"

#include <math.h>

Bank bank_of(const Layout *layout, Columns columns)
{
    bool content = columns.first == 0 && columns.count == layout->d;
    bool hidden = columns.first == layout->d && columns.count == layout->hidden;
    return content ? BANK_CONTENT : hidden ? BANK_HIDDEN : BANKS;
}

static Magnitude vector_norm(const double *v, size_t count)
{
    Magnitude sum = {0, 0};
    for (size_t i = 0; v != NULL && i < count; i++) {
        sum = magnitude_sum(sum, magnitude_square(magnitude_of(v[i], 0)));
    }
    return magnitude_root(sum);
}

Magnitude norm_steepest(const NormBound *norm, Magnitude error)
{
    double apart = nextafter(norm->spread - magnitude_double(error), 0);
    if (!(apart > 0)) {
        return norm->steepest;
    }
    double s = (apart * apart / norm->d + norm->eps) * (1 - 0x1p-49);
    return magnitude_least(norm->steepest, magnitude_inverse_root(s));
}

NormBound norm_bound(const LayerNorm *norm, const Layout *layout)
{
    NormBound bound = {.there = norm->kind != NORMALIZATION_NONE};
    if (!bound.there) {
        return bound;
    }
    size_t d = norm->columns.count;
    bound.d = (double)d;
    bound.eps = norm->eps;
    bound.bias_row = !norm->tokens_only;
    bound.bank = bank_of(layout, norm->columns);
    bound.root_d = magnitude_root(magnitude_of_size(d));
    bound.steepest = magnitude_inverse_root(norm->eps);
    for (size_t c = 0; c < d; c++) {
        bound.gain = magnitude_most(bound.gain, magnitude_of(norm->gamma[c], 0));
    }
    bound.beta = vector_norm(norm->beta, d);
    return bound;
}

void fold_factor(Matrix *w, Matrix *c, const LayerNorm *norm)
{
    Matrix beta, more;
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    if (norm->beta != NULL) {
        matrix_take(&beta, (Doubles){norm->beta, 1, w->rows, w->rows, 1});
        matrix_product(&more, &beta, w, false);
        matrix_add(c, &more, 1);
        matrix_clear(&beta);
        matrix_clear(&more);
    }
    matrix_fold(w, norm);
}
