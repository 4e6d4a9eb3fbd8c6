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

Magnitude norm_steepest(const NormBound *norm, Magnitude error)
{
    double apart = nextafter(norm->spread - magnitude_double(error), 0);
    if (!(apart > 0)) {
        return norm->steepest;
    }
    double s = (apart * apart / norm->d + norm->eps) * (1 - 0x1p-49);
    return least(norm->steepest, magnitude_inverse_root(s));
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
        bound.gain = magnitude_most(bound.gain, number(norm->gamma[c]));
    }
    for (size_t c = 0; norm->beta != NULL && c < d; c++) {
        bound.beta = sum(bound.beta, magnitude_square(number(norm->beta[c])));
    }
    bound.beta = magnitude_root(bound.beta);
    return bound;
}

void fold_factor(Matrix *w, Matrix *c, const LayerNorm *norm)
{
    matrix_add_row(c, norm->beta, w);
    matrix_fold(w, norm);
}

void reader_make(Reader *reader, Matrix w, const double *bias, const LayerNorm *norm)
{
    reader->token = w;
    matrix_copy(&reader->bias_row, &w);
    matrix_take(&reader->bias, (Doubles){bias, 1, w.columns, w.columns, 1});
    fold_factor(&reader->token, &reader->bias, norm);
    if (!norm->tokens_only) {
        matrix_fold(&reader->bias_row, norm);
    }
}

void reader_clear(Reader *reader)
{
    matrix_clear(&reader->token);
    matrix_clear(&reader->bias_row);
    matrix_clear(&reader->bias);
}
