/*
 * How small a row can be where its norm reads it behind the first attention (private to
 * reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_SPREAD_H
#define HEADPROOF_REFERENCE_GUARANTEE_SPREAD_H

#include "input.h"

/* Are rows, and the values that heads make of them, few enough to be looked at? */
bool spread_is_known(const GuaranteeInputs *inputs, const Sublayer *attention);

/* (G25): *least is at most |P x| of every row x of T_infinity behind the attention that reads the
 * rows, with P of the norm; 0 where nothing is known.  false: memory is short. */
bool spread_least(double *least, const GuaranteeInputs *inputs, const Matrix *rows,
                  const Sublayer *attention, const LayerNorm *norm)
    __attribute__((warn_unused_result));

#endif
