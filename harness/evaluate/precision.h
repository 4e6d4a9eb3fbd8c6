/*
 * What rows at one precision leave to be wished, and the precision to try next.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_PRECISION_H
#define HEADPROOF_HARNESS_EVALUATE_PRECISION_H

#include "evaluation.h"

/* What rows at one precision came to.  passed: every row; broken: a promise that the construction
 * error comes out; lacking, wanted: bits more
 * that other promises, or what is not proven, and a judged error ask for. */
typedef struct {
    bool passed, broken;
    double lacking, wanted;
} RowsFound;

/* Did the plan promise this layer's construction error at these bits, and it did not come out? */
bool precision_promise_broken(const Evaluation *evaluation, const Row *row);

/* Bits more that a certified row's cells lack, at most as many as there are: noise only where a
 * proof is asked for. */
double precision_proof_lacking(const Evaluation *evaluation, const Row *row);

/* Bits more that make values of what the plan promised and is only a bound, though more than noise:
 * a value that lies where its digits change, or an error far smaller than errors are.  A proof is
 * asked for all.  0: none. */
double precision_lacking(const Evaluation *evaluation, const Row *row);

/* Bits more at which a judged error that is only a bound comes within the tolerance, as a bound
 * falls by half for every bit; 0 where it is none or within, and where no precision helps. */
double precision_wanted(const Evaluation *evaluation, const RefCell *cell);

/* The bits to try next, after so many raises: of the difference twice as many for a broken promise;
 * of both at least 64 more for what else is asked.  false: none are, or none may be had.  Each
 * raise is by all that is known to lack, but what is not proven, is zero without a proof or lies on
 * the point where its digits change may never come out; so there are three at most, and one where
 * nothing is known still of what nobody asked a proof for. */
bool precision_next(RefBits *next, const Evaluation *evaluation, const RowsFound *found,
                    int raises);

/* Did radii that nobody asked for not suffice? */
bool precision_wants_plan(const Evaluation *evaluation, const RowsFound *found);

#endif
