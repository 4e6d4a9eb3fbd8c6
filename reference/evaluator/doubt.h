/*
 * Does a softmax hang on differences of scores that the working precision does not give (private to
 * reference/)?  Two precisions that both lose such a difference agree, so that comparing them, as a
 * plan does, tells nothing: scores of 1e80 and 1e80 + 1 are one number at 64 bits and at 128.
 *
 * No term of a score is as large as 2^exponent; a run of p bits, whose stream had lost `lost` of
 * them before, then knows the score to about 2^(exponent + lost - p).  That is fine where it is
 * small; and where the scores that compete lie further apart than that, since then one of them has
 * all the weight.
 */
#ifndef HEADPROOF_REFERENCE_EVALUATOR_DOUBT_H
#define HEADPROOF_REFERENCE_EVALUATOR_DOUBT_H

#include "evaluator.h"

/* Is there anything to be noted at this precision? */
bool doubt_is_noted(const Evaluator *ev);

/* Two scores that compete are so far apart: into what the worker has seen. */
void doubt_note(const Evaluator *ev, Worker *worker, mpfr_srcptr difference);

#endif
