/*
 * Cases whose difference e = r(T') - r(T_infinity) is evaluated as it is.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_DIFFERENCE_CASES_H
#define HEADPROOF_TESTS_REFERENCE_DIFFERENCE_CASES_H

#include "../../cases/case.h"
#include "../../reference/reference.h"

enum { SEED = 1, PLACE = 240, VARIANTS = 32 };

/* Constructions with an Omega. */
enum { WITH_OMEGA = CONSTRUCTION_MASKED };

CaseSpec difference_case(Construction construction, size_t depth);

/* One of VARIANTS: masks, biases, content of the bias row, factored heads, places, activations,
 * N = 1. */
CaseSpec difference_variant(Construction construction, size_t depth, int variant);

/* Gated networks, fused or behind attention: all activations, readouts, masks and biases. */
CaseSpec difference_gated(int variant);
enum { GATED_VARIANTS = 60 };

/* One of two layers that has lost entries of Omega, by chance or one. */
CaseSpec difference_damaged(Construction construction, int variant);

void difference_describe(char what[PLACE], const CaseSpec *s, double omega);

#endif
