/*
 * The shift of a softmax: scores less the largest of their row, before anything is exponentiated.
 */
#include "shift.h"

#include "doubt.h"

#include <math.h>

#define LOG2_E 1.4426950408889634

static mpfr_exp_t omega_exponent(const Evaluator *ev)
{
    int exponent;
    (void)frexp(ev->omega, &exponent);
    return exponent;
}

/* t = d - Omega gap.  Where they are not of one size nothing cancels; where they are, what d has
 * beyond its own last bit is zeros: bits and Omega's exponent hold both. */
static void less_omega(const Evaluator *ev, mpfr_ptr t, mpfr_srcptr d, int gap)
{
    mpfr_t omega; /* gap * omega, exactly */
    mpfr_init2(omega, 64);
    mpfr_set_d(omega, ev->omega, MPFR_RNDN);
    mpfr_mul_si(omega, omega, gap, MPFR_RNDN);
    mpfr_sub(t, d, omega, MPFR_RNDN);
    mpfr_clear(omega);
}

static mpfr_prec_t bits_beside_omega(const Evaluator *ev)
{
    mpfr_exp_t exponent = omega_exponent(ev);
    return ev->bits + 64 + (exponent > 0 ? (mpfr_prec_t)exponent : 0);
}

void shift_exp(Evaluator *ev, Worker *worker, mpfr_ptr y, mpfr_srcptr d, int gap)
{
    mpfr_t t;
    if (gap == 0 || shift_is_near(d)) {
        evaluator_exp(ev, worker, y, d, 1);
        if (gap != 0) {
            mpfr_mul(y, y, evaluator_decay(ev, gap), MPFR_RNDN);
        }
        return;
    }
    mpfr_init2(t, bits_beside_omega(ev));
    less_omega(ev, t, d, gap);
    doubt_note(ev, worker, t);
    mpfr_exp(y, t, MPFR_RNDN);
    mpfr_clear(t);
}

void shift_raise(const Evaluator *ev, mpfr_ptr shift, mpfr_srcptr s, int gap)
{
    mpfr_t t;
    if (mpfr_cmp(s, shift) <= 0) {
        return; /* Omega only takes away */
    }
    mpfr_init2(t, ev->bits);
    if (gap == 0) {
        mpfr_set(t, s, MPFR_RNDN);
    } else {
        less_omega(ev, t, s, gap);
    }
    if (mpfr_cmp(t, shift) > 0) {
        mpfr_set(shift, t, MPFR_RNDN);
    }
    mpfr_clear(t);
}

double shift_bits_between(mpfr_srcptr z_best, mpfr_srcptr z_rest, mpfr_srcptr d)
{
    mpfr_t ratio, factor;
    mp_limb_t limb[2] = {0}; /* nothing is allocated for each of a row's keys */
    double bits = 0;
    mpfr_custom_init_set(ratio, MPFR_ZERO_KIND, 0, 64, &limb[0]);
    mpfr_custom_init_set(factor, MPFR_ZERO_KIND, 0, 64, &limb[1]);
    mpfr_div(ratio, z_best, z_rest, MPFR_RNDN);
    if (!shift_is_near(d)) {
        bits = floor(mpfr_get_d(d, MPFR_RNDN) * LOG2_E) + 1;
    } else if (!mpfr_zero_p(d)) {
        mpfr_exp(factor, d, MPFR_RNDN);
        mpfr_mul(ratio, ratio, factor, MPFR_RNDN);
    }
    return bits + (double)mpfr_get_exp(ratio);
}
