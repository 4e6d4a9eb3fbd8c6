/*
 * The closed forms of docs/mathematics.md, section 2, for the errors of one layer, with
 * any content of the bias row, from the master lemma.  With keys A and C, of which the limit
 * model keeps A alone,
 *     r(T') - r(T_infinity) = rho (y_C - y_A),   rho = sigma(L_C - L_A),
 * y the softmax averages of the values and L the log-sum-exps of the scores.  They read the
 * drawn weights from T's own operations and know nothing of how anything is evaluated: no two
 * nearly equal numbers are subtracted for the sake of Omega.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_CLOSED_FORMS_H
#define HEADPROOF_TESTS_REFERENCE_CLOSED_FORMS_H

#include "../../cases/case.h"
#include "../real.h"

/* Constructions that have one: silu, linear, attention, fused.  Only the first layer is read.
 *
 * delta [(n + 1) * (d + hidden)] = r(T') - r(T_infinity): the n tokens in order, then the bias
 * row. */
void closed_construction(Real *delta, const CaseSpec *spec, const Pair *pair, double omega);

/* delta [n * (d + hidden)] = r(T_infinity) - r(T), zero when the bias row is empty. */
void closed_approximation(Real *delta, const CaseSpec *spec, const Pair *pair);

/* bound [d + hidden]: no |entry| of closed_construction's token rows exceeds its column's, for
 * silu, linear and fused without biases or mask and with an empty bias row. */
void closed_bound(Real *bound, const CaseSpec *spec, const Pair *pair, double omega);

#endif
