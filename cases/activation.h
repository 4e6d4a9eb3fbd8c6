/*
 * Activations, and the sums of gated terms that heads imitate them by.
 *
 * A new one is its name in the enumeration (model.h), its row here, and its row in the table of
 * each arithmetic: kernels/direct.c and reference/evaluator/activation.c.
 */
#ifndef HEADPROOF_CASES_ACTIVATION_H
#define HEADPROOF_CASES_ACTIVATION_H

#include "case.h"

/* The term value * x sigma(gate x + shift): a bundle of heads. */
typedef struct {
    double gate, shift, value;
} Term;

/* The values of one activation sum to exactly 1, so that the imitation's error stays bounded (and
 * in place the residual connection is cancelled exactly).  swing: at least the largest |a' - 1/2|
 * of their sum a over all x (docs/proof.md, (G3)), and at most 1e-7 more: test_swings proves it. */
typedef struct {
    size_t count;
    double swing;
    Term term[GELU_TERMS_MOST];
} Terms;

/* gate and shifts of K terms with positive values that are multiples of 2^-40: a term without a
 * shift where K is odd, and pairs with the shifts +-shift[p], each of the two with value
 * weight[p] 2^-40 (activation.c). */
typedef struct {
    double gate, shift[GELU_TERMS_MOST / 2];
    long weight[GELU_TERMS_MOST / 2];
    double swing; /* of Terms */
} ShiftedTerms;

typedef struct {
    const ShiftedTerms *shifted; /* [GELU_TERMS_MOST] by K - 1; NULL: GeluForm has no say */
    bool exact;                  /* its one term is the activation itself: T_infinity = T */
} ActivationInfo;

const ActivationInfo *activation_info(Activation activation);

/* Names for users. */
extern const char *const activation_names[ACTIVATION_COUNT];

/* The form of K terms, 1 <= K <= GELU_TERMS_MOST, and the K of a form from GELU_SHIFTED_2 on. */
GeluForm gelu_of_terms(size_t K);
size_t gelu_terms(GeluForm form);

/* Heads with the score tau y toward a row itself write value tanh(tau y/2); pair j of a case's
 * readout_pairs, from 0. */
typedef struct {
    double tau, value;
} ReadoutPair;

size_t readout_pairs(const CaseSpec *spec);
ReadoutPair readout_pair(const CaseSpec *spec, size_t j);

/* The terms that imitate the case's activation. */
Terms activation_terms(const CaseSpec *spec);

#endif
