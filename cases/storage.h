/*
 * Weights rounded once to what a model is stored in (private to cases/).
 */
#ifndef HEADPROOF_CASES_STORAGE_H
#define HEADPROOF_CASES_STORAGE_H

#include "arena.h"
#include "case.h"

/* x rounded to nearest, ties to even, to digits significand bits, or fewer below
 * 2^(least_exponent - 1), the smallest normal number.  What would be beyond the largest number
 * stays as it is, for a machine to overflow at.  At most 52 digits. */
double storage_nearest(double x, int digits, int least_exponent);

/* Rounds every number that was taken from the arena, as spec says. */
void storage_round(Arena *arena, const CaseSpec *spec);

/* Are given weights copied into the arena, whose numbers are to be rounded? */
bool storage_copies(const CaseSpec *spec);

/* The layer's tensors become copies; and those of the final norm. */
void storage_layer(Arena *arena, GivenLayer *layer, const CaseSpec *spec);
void storage_final(Arena *arena, GivenWeights *given, const CaseSpec *spec);

#endif
