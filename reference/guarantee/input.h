/*
 * The rows that a finite vocabulary can have (private to reference/guarantee/).
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_INPUT_H
#define HEADPROOF_REFERENCE_GUARANTEE_INPUT_H

#include "guarantee.h"
#include "matrix.h"

/* Numbers in all rows, of tokens at positions, at most, where each is looked at. */
enum { ROWS_MOST = 1 << 24 };

bool inputs_are_few(const GuaranteeInputs *inputs);

/* The rows that a sublayer reads of X, [vocabulary times positions, d]: x, or u of (G2) where it
 * reads through the norm.  false: memory is short. */
bool inputs_read(Matrix *rows, const GuaranteeInputs *inputs, const LayerNorm *norm)
    __attribute__((warn_unused_result));

#endif
