/*
 * Where errors are born: what a layer injects, and what it makes of the error that comes in
 * (docs/findings.md).
 *
 * With x^ the stream that a layer gets and x the one that it should get, F the exact layer and G^
 * the one that is looked at,
 *     error after the layer = injected [G^(x^) - F(x^)] + inherited [F(x^) - F(x)].
 *     construction: F = T_infinity's layer, G^ = T''s, both exact; x = r(T_infinity), x^ = r(T')
 *     rounding:     F = T''s in exact arithmetic, G^ = the machine's;     x = r(T'), x^ = m(T')
 * x^ differs from x in T's own stream alone: in token rows, but for columns that the layer before
 * cleared.  What the bias row and cleared columns leak is of T''s making, and counts as injected.
 *
 * Order of use, beside a run of ref_propagation_run_open: before each ref_run_layer
 * ref_propagation_begin, after it ref_propagation_compare.
 */
#ifndef HEADPROOF_REFERENCE_COMPARE_PROPAGATION_H
#define HEADPROOF_REFERENCE_COMPARE_PROPAGATION_H

#include "../reference.h"

typedef struct RefPropagation RefPropagation;

/* As ref_difference_open, with what is inherited beside e; not yet certified. */
RefRun *ref_propagation_run_open(const Pair *pair, double omega, mpfr_prec_t bits,
                                 const RefBase *base) __attribute__((warn_unused_result));

/* Entry (row, column) of what the last layer inherited of e. */
mpfr_srcptr ref_run_inherited(const RefRun *run, size_t row, size_t column);

/* For that run, certified, which must outlive it as must base.  machine: m(T') is looked at too. */
RefPropagation *ref_propagation_open(const Pair *pair, const RefBase *base, const RefRun *run,
                                     double omega, bool machine)
    __attribute__((warn_unused_result));
void ref_propagation_clear(RefPropagation *propagation);

/* Bytes of both beyond ref_difference_open's. */
double ref_propagation_bytes(const Pair *pair, mpfr_prec_t bits);

/* Evaluates F at x^ for the layer that the run does next.  rows: of which the gain is. */
void ref_propagation_begin(RefPropagation *propagation, RefRows rows);

/* The six cells of the layer that the run has just done, over these rows and the columns
 * compared. converted: m(T') behind it, or NULL (those of rounding are absent); all its columns
 * of content are read.  contradiction: inherited is not F(x^) - F(x) to the working precision in
 * some entry, or a zero that is proven was measured larger than its error. */
void ref_propagation_compare(RefErrors *errors, RefPropagation *propagation, RefRows rows,
                             const MachineView *converted);

#endif
