/*
 * Losses and divergences of distributions over classes, without cancellation, each with what it may
 * be off by.
 */
#include "divergence.h"

#include "../../memory/need.h"
#include "../compare/cell.h"
#include "../numbers/ap.h"

#include <stdlib.h>

/* Bits of p and of all that is formed of it; and of e^t, where t is taken from it. */
enum { BITS = REF_LOGIT_BITS, DIRECT_BITS = BITS + 32 };

/* g(t) is summed as a series where |t| < 2^SERIES_BELOW: e^t - 1 - t would lose twice as many bits
 * as that. */
enum { SERIES_BELOW = -8 };

/* And d - mean is right to so many bits of the largest d. */
enum { ROUNDED_BITS = BITS - 32 };

/* Numbers that are formed of p and d are right to so many bits: some dozen roundings of BITS each,
 * and sums over at most 2^32 classes. */
enum { RIGHT_BITS = 128 };

struct RefSoftmax {
    ApMat p; /* [1, classes] */
    size_t classes, top;
    mpfr_srcptr z; /* [classes], the caller's */
    mpfr_t rest;   /* sum of e^(z_k - z_top) over the others */
    mpfr_t off;    /* of every z */
};

RefSoftmax *ref_softmax_make(size_t classes)
{
    RefSoftmax *made = need_zeros(1, sizeof *made);
    ap_init(&made->p, 1, classes, BITS);
    made->classes = classes;
    mpfr_inits2(BITS, made->rest, made->off, (mpfr_ptr)0);
    return made;
}

void ref_softmax_clear(RefSoftmax *softmax)
{
    if (softmax != NULL) {
        ap_clear(&softmax->p);
        mpfr_clears(softmax->rest, softmax->off, (mpfr_ptr)0);
        free(softmax);
    }
}

double ref_softmax_bytes(double classes)
{
    return ap_bytes(1, classes, BITS) + (double)sizeof(RefSoftmax);
}

void ref_softmax_set(RefSoftmax *softmax, mpfr_srcptr z, mpfr_srcptr off)
{
    mpfr_t sum;
    double margin;
    softmax->z = z;
    softmax->top = ref_logits_top(&margin, z, softmax->classes);
    mpfr_set(softmax->off, off, MPFR_RNDU);
    mpfr_init2(sum, BITS);
    mpfr_set_zero(softmax->rest, 1);
    for (size_t k = 0; k < softmax->classes; k++) {
        mpfr_ptr p = ap_at(&softmax->p, 0, k);
        mpfr_sub(p, z + k, z + softmax->top, MPFR_RNDN);
        mpfr_exp(p, p, MPFR_RNDN);
        if (k != softmax->top) {
            mpfr_add(softmax->rest, softmax->rest, p, MPFR_RNDN);
        }
    }
    mpfr_add_ui(sum, softmax->rest, 1, MPFR_RNDN);
    for (size_t k = 0; k < softmax->classes; k++) {
        mpfr_div(ap_at(&softmax->p, 0, k), ap_at(&softmax->p, 0, k), sum, MPFR_RNDN);
    }
    mpfr_clear(sum);
}

/* error += value 2^-RIGHT_BITS */
static void add_rounding(mpfr_ptr error, mpfr_srcptr value)
{
    mpfr_t t;
    mpfr_init2(t, 64);
    mpfr_abs(t, value, MPFR_RNDU);
    mpfr_mul_2si(t, t, -RIGHT_BITS, MPFR_RNDU);
    mpfr_add(error, error, t, MPFR_RNDU);
    mpfr_clear(t);
}

/* x <= most; false of what is no number. */
static bool within(mpfr_srcptr x, unsigned long most)
{
    return !mpfr_nan_p(x) && mpfr_cmp_ui(x, most) <= 0;
}

/* error = what a loss may be off by where logits are by off: 2 off (1 - q_c), and 1 - q_c is at
 * most the loss; e^(2 off) times that at the other end. */
static void loss_error(mpfr_ptr error, mpfr_srcptr loss, mpfr_srcptr off)
{
    mpfr_t share;
    mpfr_init2(share, 64);
    mpfr_mul_2si(share, off, 1, MPFR_RNDU);
    mpfr_exp(share, share, MPFR_RNDU);
    mpfr_mul(share, share, loss, MPFR_RNDU);
    if (mpfr_sgn(loss) < 0 || !within(share, 1)) {
        mpfr_set_ui(share, 1, MPFR_RNDU);
    }
    mpfr_mul(error, off, share, MPFR_RNDU);
    mpfr_mul_2si(error, error, 1, MPFR_RNDU);
    mpfr_clear(share);
}

/* loss = -log p_c */
static void original_loss(mpfr_ptr loss, mpfr_ptr above, const RefSoftmax *softmax, size_t c)
{
    mpfr_log1p(loss, softmax->rest, MPFR_RNDN);
    mpfr_sub(above, softmax->z + softmax->top, softmax->z + c, MPFR_RNDN);
    mpfr_add(loss, loss, above, MPFR_RNDN);
}

void ref_softmax_loss(RefCell *loss, const RefSoftmax *softmax, size_t c)
{
    mpfr_t value, error;
    mpfr_inits2(BITS, value, error, (mpfr_ptr)0);
    original_loss(value, error, softmax, c);
    loss_error(error, value, softmax->off);
    add_rounding(error, value);
    cell_settle(loss, value, error);
    mpfr_clears(value, error, (mpfr_ptr)0);
}

/* y = e^t - 1 - t: as its series, t^2/2 (1 + t/3 (1 + t/4 (...))), where it is close to 0. */
static void surplus(mpfr_ptr y, mpfr_srcptr t)
{
    if (mpfr_zero_p(t)) {
        mpfr_set_zero(y, 1);
        return;
    }
    mpfr_exp_t exponent = mpfr_regular_p(t) ? mpfr_get_exp(t) : 0;
    if (exponent > SERIES_BELOW) {
        mpfr_expm1(y, t, MPFR_RNDN);
        mpfr_sub(y, y, t, MPFR_RNDN);
        return;
    }
    unsigned long terms = exponent < -BITS ? 3 : 3 + (unsigned long)(BITS / -exponent);
    mpfr_set_ui(y, 1, MPFR_RNDN);
    for (unsigned long j = terms; j >= 3; j--) {
        mpfr_mul(y, y, t, MPFR_RNDN);
        mpfr_div_ui(y, y, j, MPFR_RNDN);
        mpfr_add_ui(y, y, 1, MPFR_RNDN);
    }
    mpfr_mul(y, y, t, MPFR_RNDN);
    mpfr_mul(y, y, t, MPFR_RNDN);
    mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}

/* Sums over the classes: mean = sum p d; of t = d - mean, g = sum p g(t), moved = sum p |e^t - 1|,
 * and rest = the same of the classes but the top, of p e^t. */
typedef struct {
    mpfr_t mean, g, moved, rest;
    mpfr_t t, surplus, term; /* work */
} Sums;

static void sums_init(Sums *sums)
{
    mpfr_inits2(BITS, sums->mean, sums->g, sums->moved, sums->rest, sums->t, sums->term,
                (mpfr_ptr)0);
    mpfr_init2(sums->surplus, DIRECT_BITS);
}

static void sums_clear(Sums *sums)
{
    mpfr_clears(sums->mean, sums->g, sums->moved, sums->rest, sums->t, sums->term, sums->surplus,
                (mpfr_ptr)0);
}

static void sums_make(Sums *sums, const RefSoftmax *softmax, mpfr_srcptr d)
{
    mpfr_set_zero(sums->mean, 1);
    mpfr_set_zero(sums->g, 1);
    mpfr_set_zero(sums->moved, 1);
    mpfr_set_zero(sums->rest, 1);
    for (size_t k = 0; k < softmax->classes; k++) {
        mpfr_fma(sums->mean, ap_at(&softmax->p, 0, k), d + k, sums->mean, MPFR_RNDN);
    }
    for (size_t k = 0; k < softmax->classes; k++) {
        mpfr_srcptr p = ap_at(&softmax->p, 0, k);
        mpfr_sub(sums->t, d + k, sums->mean, MPFR_RNDN);
        surplus(sums->surplus, sums->t);
        mpfr_fma(sums->g, p, sums->surplus, sums->g, MPFR_RNDN);
        mpfr_add(sums->term, sums->surplus, sums->t, MPFR_RNDN); /* e^t - 1 */
        if (k != softmax->top) {
            mpfr_fma(sums->t, p, sums->term, p, MPFR_RNDU);
            mpfr_add(sums->rest, sums->rest, sums->t, MPFR_RNDU);
        }
        mpfr_abs(sums->term, sums->term, MPFR_RNDU);
        mpfr_fma(sums->moved, p, sums->term, sums->moved, MPFR_RNDU);
    }
}

/* A change d of logits, whose KL is known; every d - mean may be off by off. */
typedef struct {
    const RefSoftmax *softmax;
    mpfr_srcptr d, off, kl;
} Changed;

/* error = what KL may be off by where every d is by off and every z by softmax->off: at most
 * off (sum |q - p| + 4 off rest e^(4 off)) and KL (e^(2 off of z) - 1), and never more than 2 off
 * and that.  sum |q - p| <= moved + KL. */
static void divergence_error(mpfr_ptr error, const Sums *sums, const Changed *of)
{
    mpfr_srcptr kl = of->kl, off = of->off;
    mpfr_t t;
    mpfr_init2(t, 64);
    mpfr_mul_2si(t, off, 2, MPFR_RNDU);
    mpfr_exp(error, t, MPFR_RNDU);
    mpfr_mul(error, error, t, MPFR_RNDU);
    mpfr_mul(error, error, sums->rest, MPFR_RNDU);
    mpfr_add(error, error, sums->moved, MPFR_RNDU);
    mpfr_add(error, error, kl, MPFR_RNDU);
    if (!within(error, 2)) {
        mpfr_set_ui(error, 2, MPFR_RNDU);
    }
    mpfr_mul(error, error, off, MPFR_RNDU);
    mpfr_mul_2si(t, of->softmax->off, 1, MPFR_RNDU);
    mpfr_expm1(t, t, MPFR_RNDU);
    mpfr_mul(t, t, kl, MPFR_RNDU);
    mpfr_add(error, error, t, MPFR_RNDU);
    add_rounding(error, kl);
    mpfr_clear(t);
}

/* t = t_c, as the sum of p_k (d_c - d_k) over the others, so that a p_c close to 1 cancels nothing;
 * size = the sum of their absolute values. */
static void class_change(mpfr_ptr t, mpfr_ptr size, const Changed *of, size_t c)
{
    mpfr_t term;
    mpfr_init2(term, BITS);
    mpfr_set_zero(t, 1);
    mpfr_set_zero(size, 1);
    for (size_t k = 0; k < of->softmax->classes; k++) {
        if (k != c) {
            mpfr_sub(term, of->d + c, of->d + k, MPFR_RNDN);
            mpfr_mul(term, term, ap_at(&of->softmax->p, 0, k), MPFR_RNDN);
            mpfr_add(t, t, term, MPFR_RNDN);
            mpfr_abs(term, term, MPFR_RNDU);
            mpfr_add(size, size, term, MPFR_RNDU);
        }
    }
    mpfr_clear(term);
}

/* loss = -log q_c = -log p_c + KL - t_c, and what it may be off by. */
static void changed_loss(RefCell *loss, const Changed *of, size_t c)
{
    const RefSoftmax *softmax = of->softmax;
    mpfr_t value, error, part, size, term;
    mpfr_inits2(BITS, value, error, part, size, term, (mpfr_ptr)0);
    original_loss(value, term, softmax, c);
    class_change(part, size, of, c);
    mpfr_sub(part, of->kl, part, MPFR_RNDN);
    mpfr_add(size, size, value, MPFR_RNDU);
    mpfr_add(value, value, part, MPFR_RNDN);
    mpfr_add(error, of->off, softmax->off, MPFR_RNDU);
    loss_error(error, value, error);
    add_rounding(error, of->kl);
    add_rounding(error, size);
    cell_settle(loss, value, error);
    mpfr_clears(value, error, part, size, term, (mpfr_ptr)0);
}

/* off = what every t may be off by: d's own, and with that d - mean, rounded. */
static void change_off(mpfr_ptr off, mpfr_srcptr own, mpfr_srcptr d, size_t classes)
{
    mpfr_set_zero(off, 1);
    if (classes == 1) { /* q is p */
        return;
    }
    for (size_t k = 0; k < classes; k++) {
        if (mpfr_cmpabs(d + k, off) > 0) {
            mpfr_abs(off, d + k, MPFR_RNDU);
        }
    }
    mpfr_mul_2si(off, off, -ROUNDED_BITS, MPFR_RNDU);
    mpfr_add(off, off, own, MPFR_RNDU);
}

static bool all_numbers(mpfr_srcptr x, size_t count)
{
    bool number = true;
    for (size_t k = 0; k < count; k++) {
        number = number && mpfr_number_p(x + k);
    }
    return number;
}

void ref_softmax_divergence(RefCell *kl, RefCell *loss, const RefSoftmax *softmax, mpfr_srcptr d,
                            mpfr_srcptr off, size_t c)
{
    Sums sums;
    mpfr_t value, error, both;
    mpfr_inits2(BITS, value, error, both, (mpfr_ptr)0);
    if (!all_numbers(softmax->z, softmax->classes) || !all_numbers(d, softmax->classes)) {
        cell_settle(kl, value, value); /* mpfr_inits2 makes NaNs */
        if (loss != NULL) {
            cell_settle(loss, value, value);
        }
        mpfr_clears(value, error, both, (mpfr_ptr)0);
        return;
    }
    sums_init(&sums);
    change_off(both, off, d, softmax->classes);
    sums_make(&sums, softmax, d);
    mpfr_log1p(value, sums.g, MPFR_RNDN);
    const Changed changed = {softmax, d, both, value};
    divergence_error(error, &sums, &changed);
    cell_settle(kl, value, error);
    if (loss != NULL) {
        changed_loss(loss, &changed, c);
    }
    mpfr_clears(value, error, both, (mpfr_ptr)0);
    sums_clear(&sums);
}
