/*
 * The shift of a softmax: scores less the largest of their row, before anything is exponentiated.
 */
#include "shift.h"

#include <math.h>

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
        vexp(worker->exp, y, d, 1);
        if (gap != 0) {
            mpfr_mul(y, y, evaluator_decay(ev, gap), MPFR_RNDN);
        }
        return;
    }
    mpfr_init2(t, bits_beside_omega(ev));
    less_omega(ev, t, d, gap);
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
