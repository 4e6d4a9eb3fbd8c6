/*
 * One input of `headproof attribute` (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_INPUT_H
#define HEADPROOF_HARNESS_COMMANDS_ATTRIBUTE_INPUT_H

#include "attribute.h"

/* Evaluates input i.  text: its lines of the table, or NULL where none are asked
 * for; to be freed.  false: memory is short. */
bool attribute_input(Attribution *attribution, size_t i, char **text)
    __attribute__((warn_unused_result));

/* The working precision of input i's streams, and its plan where plan is not NULL. */
bool attribute_bits(const Attribution *attribution, size_t i, mpfr_prec_t *bits, RefPlan **plan)
    __attribute__((warn_unused_result));

#endif
