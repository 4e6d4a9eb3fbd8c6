/*
 * The largest entry and the root mean square of numbers, whatever their exponents.
 */
#include "error_norms.h"

void norms_init(Norms *norms, mpfr_prec_t bits)
{
    mpfr_inits2(REF_CELL_BITS, norms->max, norms->squares, norms->t, (mpfr_ptr)0);
    mpfr_init2(norms->d, bits);
    mpfr_set_zero(norms->max, 1);
    mpfr_set_zero(norms->squares, 1);
    norms->shift = mpfr_get_emin();
}

void norms_clear(Norms *norms)
{
    mpfr_clears(norms->max, norms->squares, norms->d, norms->t, (mpfr_ptr)0);
}

void norms_add(Norms *norms)
{
    mpfr_exp_t exponent = mpfr_regular_p(norms->d) ? mpfr_get_exp(norms->d) : norms->shift;
    mpfr_exp_t rise = exponent - norms->shift;
    if (rise > REF_CELL_BITS) {
        mpfr_set_zero(norms->squares, 1); /* smaller by more than they have bits */
    } else if (rise > 0) {
        mpfr_mul_2si(norms->squares, norms->squares, -2 * rise, MPFR_RNDN);
    }
    norms->shift = rise > 0 ? exponent : norms->shift;
    mpfr_mul_2si(norms->t, norms->d, -norms->shift, MPFR_RNDN);
    mpfr_sqr(norms->t, norms->t, MPFR_RNDN);
    mpfr_add(norms->squares, norms->squares, norms->t, MPFR_RNDN);
    if (!mpfr_number_p(norms->d) || mpfr_nan_p(norms->max)) {
        mpfr_set_nan(norms->max);
    } else if (mpfr_cmpabs(norms->d, norms->max) > 0) {
        mpfr_abs(norms->max, norms->d, MPFR_RNDN);
    }
}

void norms_root(mpfr_ptr root, const Norms *norms, unsigned long count)
{
    mpfr_div_ui(root, norms->squares, count, MPFR_RNDN);
    mpfr_sqrt(root, root, MPFR_RNDN);
    mpfr_mul_2si(root, root, norms->shift, MPFR_RNDN);
}

void norms_block_max(mpfr_ptr max, const ApMat *mat, size_t first, size_t rows, Columns columns)
{
    mpfr_set_zero(max, 1);
    for (size_t i = first; i < first + rows; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            mpfr_srcptr entry = ap_at(mat, i, c);
            if (mpfr_nan_p(entry)) {
                mpfr_set_nan(max);
                return;
            }
            if (mpfr_cmpabs(entry, max) > 0) {
                mpfr_abs(max, entry, MPFR_RNDN);
            }
        }
    }
}
