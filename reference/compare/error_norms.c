/*
 * The largest entry and the root mean square of numbers, whatever their exponents.
 */
#include "error_norms.h"

#include "../../memory/need.h"
#include "../product/lanes.h"

#include <stdlib.h>

/* Bytes of d's limbs. */
static size_t row_size(mpfr_prec_t bits)
{
    return NORMS_COLUMNS * mpfr_custom_get_size(bits);
}

void norms_init(Norms *norms, mpfr_prec_t bits)
{
    bits = bits > REF_CELL_BITS ? bits : REF_CELL_BITS;
    norms->limbs = need_room(row_size(bits), 1);
    for (size_t i = 0; i < NORMS_COLUMNS; i++) {
        mpfr_custom_init_set(norms->d + i, MPFR_ZERO_KIND, 0, bits,
                             norms->limbs +
                                 i * (row_size(bits) / NORMS_COLUMNS / sizeof(mp_limb_t)));
    }
    mpfr_inits2(REF_CELL_BITS, norms->max, norms->squares, norms->t, (mpfr_ptr)0);
    mpfr_set_zero(norms->max, 1);
    mpfr_set_zero(norms->squares, 1);
    norms->shift = mpfr_get_emin();
}

void norms_clear(Norms *norms)
{
    free(norms->limbs);
    mpfr_clears(norms->max, norms->squares, norms->t, (mpfr_ptr)0);
}

/* max = max(max, |entry|); NaN where an entry is no number. */
static void take_max(mpfr_ptr max, mpfr_srcptr entry, size_t count)
{
    for (size_t i = 0; i < count && !mpfr_nan_p(max); i++) {
        bool regular = mpfr_regular_p(entry + i);
        if (!regular && !mpfr_zero_p(entry + i)) {
            mpfr_set_nan(max);
        } else if (regular && mpfr_get_exp(entry + i) >= mpfr_custom_get_exp(max) &&
                   mpfr_cmpabs(entry + i, max) > 0) {
            mpfr_abs(max, entry + i, MPFR_RNDN);
        }
    }
}

/* shift = at least the exponents of d. */
static void raise_shift(Norms *norms, size_t count)
{
    mpfr_exp_t exponent = norms->shift;
    for (size_t i = 0; i < count; i++) {
        bool above = mpfr_regular_p(norms->d + i) && mpfr_get_exp(norms->d + i) > exponent;
        exponent = above ? mpfr_get_exp(norms->d + i) : exponent;
    }
    mpfr_exp_t rise = exponent - norms->shift;
    if (rise > REF_CELL_BITS) { /* what numbers add is below the sum by more than it has bits */
        if (mpfr_number_p(norms->squares)) {
            mpfr_set_zero(norms->squares, 1);
        }
    } else if (rise > 0) {
        mpfr_mul_2si(norms->squares, norms->squares, -2 * rise, MPFR_RNDN);
    }
    norms->shift = exponent;
}

void norms_add(Norms *norms, size_t count)
{
    mpfr_ptr d = norms->d;
    take_max(norms->max, d, count);
    raise_shift(norms, count);
    if (norms->shift > mpfr_get_emin()) { /* else none is regular so far */
        mpfr_set_ui_2exp(norms->t, 1, -norms->shift, MPFR_RNDN);
        lanes_mul(d, numbers_row(d), numbers_same(norms->t), count);
    }
    lanes_mul(d, numbers_row(d), numbers_row(d), count);
    lanes_sum(norms->t, d, count, d);
    mpfr_add(norms->squares, norms->squares, norms->t, MPFR_RNDN);
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
        take_max(max, ap_at(mat, i, columns.first), columns.count);
    }
}
