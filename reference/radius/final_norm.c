/*
 * The norm that an unembedding reads a stream through: how far its value and its change may be off.
 */
#include "layer_norm.h"

#include "../reference.h"
#include "bounds.h"
#include "internal.h"
#include "point.h"

/* |x|, in 2^unit. */
static double row_size(mpfr_srcptr x, size_t count, mpfr_exp_t unit)
{
    double size = 0;
    for (size_t i = 0; i < count; i++) {
        size = hypot(size, point_entry(x + i, unit));
    }
    return bound_up(size);
}

/* x 2^exponent as a double. */
static double scaled(mpfr_srcptr x, long exponent)
{
    mpfr_t t;
    mpfr_init2(t, REF_CELL_BITS);
    mpfr_mul_2si(t, x, exponent, MPFR_RNDU);
    double size = mpfr_get_d(t, MPFR_RNDU);
    mpfr_clear(t);
    return size;
}

/* The row x, and *root = sqrt(s) there. */
static NormRow row_of(double *root, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr x_off,
                      mpfr_prec_t bits)
{
    size_t count = norm->columns.count;
    ApMat c;
    mpfr_t s;
    ap_init(&c, 1, count, mpfr_get_prec(x) + NORM_GUARD);
    mpfr_init2(s, mpfr_get_prec(x) + NORM_GUARD);
    norm_centre(c.entry, s, norm, x);
    mpfr_sqrt(s, s, MPFR_RNDD);
    *root = mpfr_get_d(s, MPFR_RNDD);
    mpfr_clear(s);
    ap_clear(&c);
    NormRow row = norm_row(norm, row_size(x, count, 0), *root, scaled(x_off, 0));
    row.bits = bits;
    return row;
}

void ref_norm_row_radius(mpfr_ptr radius, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr x_off,
                         mpfr_prec_t bits)
{
    double root, beta = 0;
    NormRow row = row_of(&root, norm, x, x_off, bits);
    for (size_t c = 0; norm->beta != NULL && c < norm->columns.count; c++) {
        beta = hypot(beta, norm->beta[c]);
    }
    double y = row.gamma * sqrt(row.columns) + beta;
    mpfr_set_d(radius, bound_up(norm_row_rho(&row, scaled(x_off, bits), y)), MPFR_RNDU);
    mpfr_mul_2si(radius, radius, -(long)bits, MPFR_RNDU);
}

void ref_norm_change_radius(mpfr_ptr radius, const LayerNorm *norm, const RefNormInput *input,
                            mpfr_prec_t bits)
{
    size_t count = norm->columns.count;
    double root;
    NormRow row = row_of(&root, norm, input->x, input->x_off, bits);
    mpfr_exp_t own = ap_exponent(input->e, count), off = ap_exponent(input->e_off, 1);
    row.unit = own > off ? own : off;
    row.e = row_size(input->e, count, row.unit);
    double path = scaled(input->x_off, 0) + scaled(input->e_off, 0) + bound_scaled(row.e, row.unit);
    row.between = row.there = norm_least_root(norm, root, path);
    double change = row.gamma / row.there * row.e; /* (C35) */
    double eta = norm_row_eta(&row, scaled(input->x_off, bits),
                              scaled(input->e_off, bits - row.unit), change);
    bool same = mpfr_zero_p(input->e_off) && own == mpfr_get_emin(); /* all e are 0 */
    mpfr_set_d(radius, same ? 0 : bound_up(eta), MPFR_RNDU);
    mpfr_mul_2si(radius, radius, row.unit - bits, MPFR_RNDU);
}
