/*
 * How far a precision can be trusted: whether scores that compete are further apart than what the
 * working precision knows of them.
 */
#include "doubt.h"

#include <math.h>

/* Scores known to 2^CLEAR make rounding errors of weights that are linear in the precision. */
enum { CLEAR = -4 };

/* The exponent of zeros. */
#define NOTHING (-0x1p62)

void doubt_note(const Evaluator *ev, Worker *worker, mpfr_srcptr difference)
{
    double known = ev->score_exponent + ev->lost - (double)ev->bits;
    if (!ev->observed || known <= CLEAR) {
        return;
    }
    /* What is still competing has a weight that is not far below 2^-(bits + score_exponent). */
    double reach = fmax(known, log2((double)ev->bits + ev->score_exponent)) + 2;
    double apart = mpfr_regular_p(difference) ? (double)mpfr_get_exp(difference) - 1 : NOTHING;
    worker->seen.doubt = worker->seen.doubt || (!(apart > reach));
}
