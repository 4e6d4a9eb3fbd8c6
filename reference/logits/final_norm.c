/*
 * The norm that an unembedding reads a stream through, row by row: its value, its change, and how
 * far either may be off.
 */
#include "../difference/difference.h"
#include "../evaluator/layer_norm.h"
#include "../reference.h"

#include <math.h>

void ref_norm_row(mpfr_ptr y, mpfr_ptr change, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr e)
{
    size_t count = norm->columns.count;
    ApMat c;
    mpfr_t s;
    ap_init(&c, 1, count, mpfr_get_prec(y) + NORM_GUARD);
    mpfr_init2(s, mpfr_get_prec(y) + NORM_GUARD);
    norm_centre(c.entry, s, norm, x);
    norm_apply(y, norm, c.entry, s, true);
    if (change != NULL) {
        difference_norm_row(change, norm, c.entry, s, e);
    }
    mpfr_clear(s);
    ap_clear(&c);
}

/* The 2-norm of a row, from above. */
static void row_norm(mpfr_ptr size, mpfr_srcptr x, size_t count)
{
    mpfr_set_zero(size, 1);
    for (size_t i = 0; i < count; i++) {
        mpfr_hypot(size, size, x + i, MPFR_RNDU);
    }
}

/* root <= sqrt(s) of any row within `off` of x in the 2-norm. */
static void least_root(mpfr_ptr root, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr off)
{
    size_t count = norm->columns.count;
    mpfr_prec_t bits = mpfr_get_prec(x) + NORM_GUARD;
    ApMat c;
    mpfr_t s, t;
    mpfr_inits2(bits, s, t, (mpfr_ptr)0);
    ap_init(&c, 1, count, bits);
    norm_centre(c.entry, s, norm, x);
    mpfr_sqrt(s, s, MPFR_RNDD);
    mpfr_mul_d(root, s, 1 - 0x1p-20, MPFR_RNDD); /* which pays for what rounds in s */
    mpfr_sqrt_ui(t, count, MPFR_RNDD);
    mpfr_div(t, off, t, MPFR_RNDU);
    mpfr_sub(root, root, t, MPFR_RNDD);
    ap_clear(&c);
    mpfr_set_d(t, norm->eps, MPFR_RNDD);
    mpfr_sqrt(t, t, MPFR_RNDD);
    mpfr_max(root, root, t, MPFR_RNDD);
    mpfr_clears(s, t, (mpfr_ptr)0);
}

/* The largest |gamma|. */
static double largest_gamma(const LayerNorm *norm)
{
    double most = 0;
    for (size_t c = 0; c < norm->columns.count; c++) {
        most = fmax(most, fabs(norm->gamma[c]));
    }
    return most;
}

/* size = what y rounds: 2^(2 - bits) (G sqrt(D) + |beta|_2). */
static void rounding_of_row(mpfr_ptr size, const LayerNorm *norm, mpfr_prec_t bits)
{
    mpfr_t beta;
    mpfr_init2(beta, REF_CELL_BITS);
    mpfr_set_zero(beta, 1);
    for (size_t c = 0; norm->beta != NULL && c < norm->columns.count; c++) {
        mpfr_set_d(size, norm->beta[c], MPFR_RNDU);
        mpfr_hypot(beta, beta, size, MPFR_RNDU);
    }
    mpfr_sqrt_ui(size, norm->columns.count, MPFR_RNDU);
    mpfr_mul_d(size, size, largest_gamma(norm), MPFR_RNDU);
    mpfr_add(size, size, beta, MPFR_RNDU);
    mpfr_mul_2si(size, size, 2 - (long)bits, MPFR_RNDU);
    mpfr_clear(beta);
}

/* off = x_off and what c rounds, of its own size and, in the mean, of x's. */
static void centred_off(mpfr_ptr off, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr x_off,
                        mpfr_prec_t bits)
{
    row_norm(off, x, norm->columns.count);
    mpfr_mul_ui(off, off, norm->columns.count + 8, MPFR_RNDU);
    mpfr_mul_2si(off, off, 2 - NORM_GUARD - (long)bits, MPFR_RNDU);
    mpfr_add(off, off, x_off, MPFR_RNDU);
}

void ref_norm_row_radius(mpfr_ptr radius, const LayerNorm *norm, mpfr_srcptr x, mpfr_srcptr x_off,
                         mpfr_prec_t bits)
{
    mpfr_t root, t;
    mpfr_inits2(REF_CELL_BITS, root, t, (mpfr_ptr)0);
    least_root(root, norm, x, x_off);
    centred_off(t, norm, x, x_off, bits);
    mpfr_mul_d(t, t, largest_gamma(norm), MPFR_RNDU);
    mpfr_div(t, t, root, MPFR_RNDU);
    rounding_of_row(radius, norm, bits);
    mpfr_add(radius, radius, t, MPFR_RNDU);
    mpfr_clears(root, t, (mpfr_ptr)0);
}

/* bend = what a change by e makes of the norm's derivative at x, over G: 2 |e| / (sqrt(D) s), and
 * no more than 1 / sqrt(s). */
static void derivative_change(mpfr_ptr bend, const LayerNorm *norm, mpfr_srcptr e_size,
                              mpfr_srcptr root)
{
    mpfr_t t;
    mpfr_init2(t, REF_CELL_BITS);
    mpfr_sqrt_ui(t, norm->columns.count, MPFR_RNDD);
    mpfr_mul(t, t, root, MPFR_RNDD);
    mpfr_div(bend, e_size, t, MPFR_RNDU);
    mpfr_mul_2ui(bend, bend, 1, MPFR_RNDU);
    mpfr_set_ui(t, 1, MPFR_RNDU);
    mpfr_min(bend, bend, t, MPFR_RNDU);
    mpfr_div(bend, bend, root, MPFR_RNDU);
    mpfr_clear(t);
}

void ref_norm_change_radius(mpfr_ptr radius, const LayerNorm *norm, const RefNormInput *input,
                            mpfr_prec_t bits)
{
    mpfr_t size, off, root, bend;
    mpfr_inits2(REF_CELL_BITS, size, off, root, bend, (mpfr_ptr)0);
    row_norm(size, input->e, norm->columns.count);
    mpfr_add(size, size, input->e_off, MPFR_RNDU);
    mpfr_add(off, size, input->x_off, MPFR_RNDU);
    least_root(root, norm, input->x, off);
    derivative_change(bend, norm, size, root);
    centred_off(off, norm, input->x, input->x_off, bits);
    mpfr_mul(bend, bend, off, MPFR_RNDU);
    mpfr_mul_2si(size, size, 4 - (long)bits, MPFR_RNDU); /* what d and the outcome round */
    mpfr_add(size, size, input->e_off, MPFR_RNDU);
    mpfr_div(size, size, root, MPFR_RNDU);
    mpfr_add(radius, size, bend, MPFR_RNDU);
    mpfr_mul_d(radius, radius, largest_gamma(norm), MPFR_RNDU);
    mpfr_clears(size, off, root, bend, (mpfr_ptr)0);
}
