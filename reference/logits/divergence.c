/*
 * Losses and divergences of distributions over classes, without cancellation, each with what it may
 * be off by.
 */
#include "divergence.h"

#include "../../memory/need.h"
#include "../compare/cell.h"
#include "../numbers/ap.h"
#include "../product/lanes.h"
#include "../product/vexp.h"

#include <stdlib.h>

/* Bits of p and of all that is formed of it. */
enum { BITS = REF_LOGIT_BITS };

/* g(t) is summed as a series where |t| < 2^SERIES_BELOW: e^t - 1 - t would lose twice as many bits
 * as that, and one.  A series ends at t^TERMS_MOST / TERMS_MOST! at the latest. */
enum { SERIES_BELOW = -8, TERMS_MOST = 3 + BITS / -SERIES_BELOW };

/* Classes that are evaluated at once, and the rows of scratch for them. */
enum { BLOCK = 64, T = 0, SURPLUS, TERM, SCRATCH, BLOCK_ROWS };

/* And d - mean is right to so many bits of the largest d. */
enum { ROUNDED_BITS = BITS - 32 };

/* Numbers that are formed of p and d are right to so many bits: some dozen roundings of BITS each,
 * and sums over at most 2^32 classes. */
enum { RIGHT_BITS = 128 };

struct RefSoftmax {
    ApMat p;       /* [1, classes] */
    ApMat block;   /* [BLOCK_ROWS, BLOCK] */
    ApMat inverse; /* [1, TERMS_MOST + 1]: 1/j! */
    ApExp *alone;
    VectorExp *exp;
    size_t classes, top;
    mpfr_srcptr z; /* [classes], the caller's */
    mpfr_t rest;   /* sum of e^(z_k - z_top) over the others */
    mpfr_t off;    /* of every z */
};

RefSoftmax *ref_softmax_make(size_t classes)
{
    RefSoftmax *made = need_zeros(1, sizeof *made);
    ap_init(&made->p, 1, classes, BITS);
    ap_init(&made->block, BLOCK_ROWS, BLOCK, BITS);
    ap_init(&made->inverse, 1, TERMS_MOST + 1, BITS);
    mpfr_set_ui(ap_at(&made->inverse, 0, 0), 1, MPFR_RNDN);
    for (unsigned long j = 1; j <= TERMS_MOST; j++) {
        mpfr_div_ui(ap_at(&made->inverse, 0, j), ap_at(&made->inverse, 0, j - 1), j, MPFR_RNDN);
    }
    made->alone = ap_exp_create(BITS);
    made->exp = vexp_create(BITS, made->alone);
    made->classes = classes;
    mpfr_inits2(BITS, made->rest, made->off, (mpfr_ptr)0);
    return made;
}

void ref_softmax_clear(RefSoftmax *softmax)
{
    if (softmax != NULL) {
        ap_clear(&softmax->p);
        ap_clear(&softmax->block);
        ap_clear(&softmax->inverse);
        vexp_free(softmax->exp);
        ap_exp_free(softmax->alone);
        mpfr_clears(softmax->rest, softmax->off, (mpfr_ptr)0);
        free(softmax);
    }
}

double ref_softmax_bytes(double classes)
{
    return ap_bytes(1, classes, BITS) + ap_bytes(BLOCK_ROWS, BLOCK, BITS) +
           (double)sizeof(RefSoftmax);
}

/* The next classes from `first` on, 0 behind the last. */
static size_t block_of(const RefSoftmax *softmax, size_t first)
{
    size_t left = softmax->classes - first;
    return left < BLOCK ? left : BLOCK;
}

/* sum += x[0] + ... + x[count - 1], in a block. */
static void add_sum(mpfr_ptr sum, const RefSoftmax *softmax, mpfr_srcptr x, size_t count)
{
    mpfr_ptr scratch = ap_at(&softmax->block, SCRATCH, 0);
    lanes_sum(scratch, x, count, scratch);
    mpfr_add(sum, sum, scratch, MPFR_RNDN);
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
    for (size_t k = 0, count; (count = block_of(softmax, k)) > 0; k += count) {
        mpfr_ptr p = ap_at(&softmax->p, 0, k);
        lanes_sub(p, numbers_row(z + k), numbers_same(z + softmax->top), count);
        vexp(softmax->exp, p, p, count);
        if (softmax->top - k < count) { /* it is no part of the rest */
            mpfr_set_zero(ap_at(&softmax->p, 0, softmax->top), 1);
        }
        add_sum(softmax->rest, softmax, p, count);
    }
    mpfr_set_ui(ap_at(&softmax->p, 0, softmax->top), 1, MPFR_RNDN);
    mpfr_add_ui(sum, softmax->rest, 1, MPFR_RNDN);
    lanes_div(ap_at(&softmax->p, 0, 0), numbers_row(ap_at(&softmax->p, 0, 0)), numbers_same(sum),
              softmax->classes);
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

static bool is_large(mpfr_srcptr t)
{
    return !mpfr_zero_p(t) && (!mpfr_regular_p(t) || mpfr_get_exp(t) > SERIES_BELOW);
}

/* g(t), as its series t^2 (1/2 + t (1/6 + t (1/24 + ...))), of those t of a block that are below
 * 2^SERIES_BELOW; the others' are nonsense. */
static void sum_series(const RefSoftmax *softmax, size_t count)
{
    mpfr_srcptr t = ap_at(&softmax->block, T, 0);
    mpfr_ptr g = ap_at(&softmax->block, SURPLUS, 0);
    mpfr_exp_t most = MPFR_EMIN_MIN;
    for (size_t k = 0; k < count; k++) {
        bool counts = !is_large(t + k) && !mpfr_zero_p(t + k) && mpfr_get_exp(t + k) > most;
        most = counts ? mpfr_get_exp(t + k) : most;
    }
    size_t last = most < -BITS ? 3 : 3 + (size_t)(BITS / -most);
    lanes_mul(g, numbers_row(t), numbers_same(ap_at(&softmax->inverse, 0, last)), count);
    for (size_t j = last - 1; j > 2; j--) {
        lanes_add(g, numbers_row(g), numbers_same(ap_at(&softmax->inverse, 0, j)), count);
        lanes_mul(g, numbers_row(g), numbers_row(t), count);
    }
    lanes_add(g, numbers_row(g), numbers_same(ap_at(&softmax->inverse, 0, 2)), count);
    lanes_mul(g, numbers_row(g), numbers_row(t), count);
    lanes_mul(g, numbers_row(g), numbers_row(t), count);
}

/* SURPLUS = g(t) = e^t - 1 - t and TERM = e^t - 1, of the block's T. */
static void surplus(const RefSoftmax *softmax, size_t count)
{
    mpfr_srcptr t = ap_at(&softmax->block, T, 0), one = ap_at(&softmax->inverse, 0, 0);
    mpfr_ptr g = ap_at(&softmax->block, SURPLUS, 0), term = ap_at(&softmax->block, TERM, 0);
    mpfr_ptr direct = ap_at(&softmax->block, SCRATCH, 0);
    size_t large = 0;
    for (size_t k = 0; k < count; k++) {
        large += is_large(t + k);
    }
    if (large < count) {
        sum_series(softmax, count);
        lanes_add(term, numbers_row(g), numbers_row(t), count);
    }
    if (large > 0) {
        vexp(softmax->exp, direct, t, count);
        lanes_sub(direct, numbers_row(direct), numbers_same(one), count);
    }
    for (size_t k = 0; large > 0 && k < count; k++) {
        if (is_large(t + k)) {
            mpfr_set(term + k, direct + k, MPFR_RNDN);
            mpfr_sub(g + k, direct + k, t + k, MPFR_RNDN);
        }
    }
}

/* Sums over the classes: mean = sum p d; of t = d - mean, g = sum p g(t), moved = sum p |e^t - 1|,
 * and rest = the same of the classes but the top, of p e^t. */
typedef struct {
    mpfr_t mean, g, moved, rest;
} Sums;

static void sums_init(Sums *sums)
{
    mpfr_inits2(BITS, sums->mean, sums->g, sums->moved, sums->rest, (mpfr_ptr)0);
    mpfr_set_zero(sums->mean, 1);
    mpfr_set_zero(sums->g, 1);
    mpfr_set_zero(sums->moved, 1);
    mpfr_set_zero(sums->rest, 1);
}

static void sums_clear(Sums *sums)
{
    mpfr_clears(sums->mean, sums->g, sums->moved, sums->rest, (mpfr_ptr)0);
}

static void make_absolute(mpfr_ptr x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        mpfr_abs(x + k, x + k, MPFR_RNDN);
    }
}

/* Adds a block of classes to all but the mean. */
static void add_block(Sums *sums, const RefSoftmax *softmax, mpfr_srcptr d, size_t k, size_t count)
{
    mpfr_srcptr p = ap_at(&softmax->p, 0, k);
    mpfr_ptr t = ap_at(&softmax->block, T, 0), g = ap_at(&softmax->block, SURPLUS, 0);
    mpfr_ptr term = ap_at(&softmax->block, TERM, 0);
    lanes_sub(t, numbers_row(d + k), numbers_same(sums->mean), count);
    surplus(softmax, count);
    lanes_mul(g, numbers_row(g), numbers_row(p), count);
    add_sum(sums->g, softmax, g, count);
    lanes_mul(term, numbers_row(term), numbers_row(p), count);
    lanes_add(t, numbers_row(term), numbers_row(p), count); /* p e^t */
    if (softmax->top - k < count) {
        mpfr_set_zero(t + (softmax->top - k), 1);
    }
    add_sum(sums->rest, softmax, t, count);
    make_absolute(term, count);
    add_sum(sums->moved, softmax, term, count);
}

static void sums_make(Sums *sums, const RefSoftmax *softmax, mpfr_srcptr d)
{
    mpfr_ptr term = ap_at(&softmax->block, TERM, 0);
    for (size_t k = 0, count; (count = block_of(softmax, k)) > 0; k += count) {
        lanes_mul(term, numbers_row(ap_at(&softmax->p, 0, k)), numbers_row(d + k), count);
        add_sum(sums->mean, softmax, term, count);
    }
    for (size_t k = 0, count; (count = block_of(softmax, k)) > 0; k += count) {
        add_block(sums, softmax, d, k, count);
    }
    /* Those that bound an error, from above; p e^t was formed from p (e^t - 1). */
    add_rounding(sums->rest, sums->moved);
    mpfr_mul_d(sums->moved, sums->moved, 1 + 0x1p-52, MPFR_RNDU);
    mpfr_mul_d(sums->rest, sums->rest, 1 + 0x1p-52, MPFR_RNDU);
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
    const RefSoftmax *softmax = of->softmax;
    mpfr_ptr term = ap_at(&softmax->block, TERM, 0);
    mpfr_set_zero(t, 1);
    mpfr_set_zero(size, 1);
    for (size_t k = 0, count; (count = block_of(softmax, k)) > 0; k += count) {
        lanes_sub(term, numbers_same(of->d + c), numbers_row(of->d + k), count);
        lanes_mul(term, numbers_row(term), numbers_row(ap_at(&softmax->p, 0, k)), count);
        add_sum(t, softmax, term, count);
        make_absolute(term, count);
        add_sum(size, softmax, term, count);
    }
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
