/*
 * The bounds behind a sublayer from those before it (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_STEPS_H
#define HEADPROOF_REFERENCE_GUARANTEE_STEPS_H

#include "state.h"

/* sublayer: from 1 in the whole stack, for the origin of errors. */
void part_step(State *state, const Tokens *tokens, const Part *part, double omega, size_t sublayer);

#endif
