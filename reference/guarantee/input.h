/*
 * The rows that a finite vocabulary can have (private to reference/guarantee/).
 *
 * Umbrella header: for spread.c, too: how small a row can be where a norm reads it behind the first
 * attention.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_INPUT_H
#define HEADPROOF_REFERENCE_GUARANTEE_INPUT_H

#include "guarantee.h"
#include "matrix.h"

/* Numbers in all rows, of tokens at positions, at most, where each is looked at. */
enum { ROWS_MOST = 1 << 24 };

bool inputs_are_few(const GuaranteeInputs *inputs);

/* The rows that a sublayer reads of X, [vocabulary times positions, d]: x, or u of (G2) where it
 * reads through the norm. */
void inputs_read(Matrix *rows, const GuaranteeInputs *inputs, const LayerNorm *norm);

/* Are rows, and the values that heads make of them, few enough to be looked at? */
bool spread_is_known(const GuaranteeInputs *inputs, const Sublayer *attention);

/* (G25): *least is at most |P x| of every row x of T_infinity behind the attention that reads the
 * rows, with P of the norm; 0 where nothing is known. */
void spread_least(double *least, const GuaranteeInputs *inputs, const Matrix *rows,
                  const Sublayer *attention, const LayerNorm *norm);

#endif
