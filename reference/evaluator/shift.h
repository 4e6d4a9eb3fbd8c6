/*
 * Exponentials of scores of any size (private to reference/).
 *
 * A softmax does not change when one number is subtracted from all scores of its row.  Less the
 * row's largest, every exponential is at most 1, and what leaves MPFR's range below is too small to
 * matter beside the largest, which is 1.
 */
#ifndef HEADPROOF_REFERENCE_EVALUATOR_SHIFT_H
#define HEADPROOF_REFERENCE_EVALUATOR_SHIFT_H

#include "evaluator.h"

/* Is |x| so small that exponentials of a few such numbers, and their products, are in MPFR's
 * range, which ends at e^(3.2e18)?  Such an exponent is far from that, even times OMEGA_MAX_GAP. */
enum { SHIFT_NEAR_EXPONENT = 40 };
static inline bool shift_is_near(mpfr_srcptr x)
{
    return mpfr_zero_p(x) || (mpfr_regular_p(x) && mpfr_get_exp(x) <= SHIFT_NEAR_EXPONENT);
}

/* y = e^(d - Omega gap) for a score's distance d from its row's shift: two factors where both are
 * in MPFR's range, so that no sum ever holds Omega; else by their exponent, with as many bits as
 * Omega takes.  y is not d. */
void shift_exp(Evaluator *ev, Worker *worker, mpfr_ptr y, mpfr_srcptr d, int gap);

/* shift = max(shift, s - Omega gap) */
void shift_raise(const Evaluator *ev, mpfr_ptr shift, mpfr_srcptr s, int gap);

#endif
