/*
 * How far a precision can be trusted: whether scores that compete are further apart than what the
 * working precision knows of them.  Exponents are compared, which are whole, so that every machine
 * decides alike.
 */
#include "doubt.h"

/* Scores known to 2^CLEAR make rounding errors of weights that are linear in the precision. */
enum { CLEAR = -4 };

/* The whole part of log2 of a positive number. */
static mpfr_exp_t whole_log2(mpfr_exp_t number)
{
    mpfr_exp_t log = 0;
    for (; number > 1; number /= 2) {
        log++;
    }
    return log;
}

bool doubt_is_noted(const Evaluator *ev)
{
    return ev->observed && ev->score_exponent + ev->lost - ev->bits > CLEAR;
}

void doubt_note(const Evaluator *ev, Worker *worker, mpfr_srcptr difference)
{
    if (!doubt_is_noted(ev)) {
        return;
    }
    /* A score that still competes has a weight that is not far below 2^-(bits + score_exponent). */
    mpfr_exp_t known = ev->score_exponent + ev->lost - ev->bits;
    mpfr_exp_t competing = whole_log2(ev->bits + ev->score_exponent);
    mpfr_exp_t reach = (known > competing ? known : competing) + 2;
    bool apart = mpfr_regular_p(difference) && mpfr_get_exp(difference) - 1 > reach;
    worker->seen.doubt = worker->seen.doubt || !apart;
}
