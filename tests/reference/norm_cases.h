/*
 * Cases with layer norms.
 */
#ifndef HEADPROOF_TESTS_REFERENCE_NORM_CASES_H
#define HEADPROOF_TESTS_REFERENCE_NORM_CASES_H

#include "../../cases/case.h"
#include "../random_model.h"

enum { NORM_PLACE = 200 };

/* Small, stable weights, two heads, eps 1e-5. */
CaseSpec norm_case(Construction construction, Normalization norm, NormPlace place, size_t depth);

/* The same case with a norm: one of both, before or behind a part, eps from 1e-12 to 1, and of all
 * rows or of tokens; i: any number. */
CaseSpec norm_variant(const CaseSpec *spec, int i);

/* A norm of some columns, hidden ones too, before every layer of the stack; the second layer is
 * nothing else where that is asked. */
void random_norms(RandomModel *random, BundleStack *stack, const Layout *layout, bool alone);

/* Calls visit for every construction, norm, place, mask (none, causal), linear map and form of
 * weights that is not refused, biases or norms of tokens only with some; and for pseudo-masks. */
typedef void NormVisit(const CaseSpec *spec, void *context);
void norm_each_case(size_t depth, NormVisit *visit, void *context);

void norm_describe(char what[NORM_PLACE], const CaseSpec *spec);

#endif
