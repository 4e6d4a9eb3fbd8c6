/*
 * Stacks drawn at random, and the inputs that a guarantee of them allows, to be searched.
 */
#ifndef HEADPROOF_TESTS_DRAWN_STACK_H
#define HEADPROOF_TESTS_DRAWN_STACK_H

#include "../cases/case.h"
#include "../reference/guarantee/guarantee.h"
#include "climb.h"

/* A stack of random sizes, with every bias or none, and its pair. */
typedef struct {
    CaseSpec spec;
    GivenWeights given;
    GivenLayer layers[3];
    double *owned[128];
    size_t count;
    Pair pair;
} Drawn;

void drawn_make(Drawn *stack);
void drawn_clear(Drawn *stack);

/* Numbers about mean, which the stack owns. */
const double *drawn_weights(Drawn *stack, size_t count, double size, double mean);

/* An input, and what it may be: tokens of a vocabulary, or where there is none any rows up to R
 * long. */
typedef struct {
    const Pair *pair;
    double R;
    const GuaranteeInputs *tokens; /* without positions; or NULL */
    double *x;                     /* [n, content], of the input at hand */
} Allowed;

/* The largest value of inputs, a third of them at random.  search begins with an Allowed, of which
 * x is made, and cleared. */
double allowed_climb(void *search, double (*value)(void *search), int tries);

#endif
