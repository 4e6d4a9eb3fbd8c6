/*
 * Why a model's own answers may be others than m(T)'s (private to witness.c).
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WITNESS_CAUSES_H
#define HEADPROOF_HARNESS_EVALUATE_WITNESS_CAUSES_H

#include "witness_answers.h"

/* text [size]: what mends a difference at worst->window, or comes closest, or what cannot be tried.
 * The file's weights are changed and changed back.  false: memory is short. */
bool witness_causes(char *text, size_t size, const WitnessModel *model, const WitnessWorst *worst,
                    double allowed) __attribute__((warn_unused_result));

#endif
