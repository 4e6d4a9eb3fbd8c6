/*
 * A layer norm by its definition:
 *     y = gamma (x - mean(x)) / sqrt(mean(x^2) - mean(x)^2 + eps) + beta,
 * with beta on the token columns, so that the rows which they tell apart have it and the bias row
 * does not.  The text that the structured form must agree with.
 */
#include "dense_norm.h"

/* mean(x) and mean(x^2) over the norm's columns, in more digits than x has: the second less the
 * square of the first loses as many as an entry has at most. */
static void moments(mpfr_ptr mean, mpfr_ptr squares, const LayerNorm *norm, mpfr_srcptr x)
{
    mpfr_t t;
    mpfr_init2(t, mpfr_get_prec(squares));
    mpfr_set_zero(mean, 1);
    mpfr_set_zero(squares, 1);
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_add(mean, mean, x + c, MPFR_RNDN);
        mpfr_mul(t, x + c, x + c, MPFR_RNDN);
        mpfr_add(squares, squares, t, MPFR_RNDN);
    }
    mpfr_div_ui(mean, mean, norm->columns.count, MPFR_RNDN);
    mpfr_div_ui(squares, squares, norm->columns.count, MPFR_RNDN);
    mpfr_clear(t);
}

/* The sum of a row's entries in the columns that a bias rides on: 1 of a token, 0 of the bias
 * row. */
static void token_sum(mpfr_ptr sum, const Layout *layout, mpfr_srcptr row)
{
    bool one_column = layout->bias_row == BIAS_ROW_NONE;
    size_t count = one_column ? 1 : layout_token_columns(layout);
    mpfr_set_zero(sum, 1);
    for (size_t i = 0; i < count; i++) {
        size_t column = one_column ? layout_content(layout) : layout_token_column(layout, i);
        mpfr_add(sum, sum, row + column, MPFR_RNDN);
    }
}

static void normalise_row(const Layout *layout, const LayerNorm *norm, mpfr_ptr row)
{
    mpfr_ptr x = row + norm->columns.first;
    mpfr_t mean, root, token, t;
    mpfr_inits2(2 * mpfr_get_prec(x) + 128, mean, root, token, t, (mpfr_ptr)0);
    moments(mean, root, norm, x);
    if (norm->kind == NORMALIZATION_RMSNORM) {
        mpfr_set_zero(mean, 1);
    }
    mpfr_sqr(t, mean, MPFR_RNDN);
    mpfr_sub(root, root, t, MPFR_RNDN);
    mpfr_add_d(root, root, norm->eps, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    token_sum(token, layout, row);
    for (size_t c = 0; c < norm->columns.count; c++) {
        mpfr_sub(t, x + c, mean, MPFR_RNDN);
        mpfr_mul_d(t, t, norm->gamma[c], MPFR_RNDN);
        mpfr_div(t, t, root, MPFR_RNDN);
        mpfr_set(x + c, t, MPFR_RNDN);
        mpfr_mul_d(t, token, norm->beta != NULL ? norm->beta[c] : 0, MPFR_RNDN);
        mpfr_add(x + c, x + c, t, MPFR_RNDN);
    }
    mpfr_clears(mean, root, token, t, (mpfr_ptr)0);
}

void dense_norm(const Layout *layout, const LayerNorm *norm, const ApMat *x, ApMat *y)
{
    for (size_t i = 0; y != x && i < x->rows * x->columns; i++) {
        mpfr_set(y->entry + i, x->entry + i, MPFR_RNDN);
    }
    for (size_t row = 0; row < x->rows; row++) {
        if (!norm->tokens_only || row != layout_bias_row(layout)) {
            normalise_row(layout, norm, ap_at(y, row, 0));
        }
    }
}
