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

/* Bits that the streams of an input begin with. */
mpfr_prec_t attribute_bits(const Attribution *attribution);

#endif
