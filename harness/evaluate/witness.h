/*
 * A model's own answers, held against m(T): whether the file was read as the model that it is.
 *
 * What a file's witness.logits (or witness.resid) say at its witness.tokens is what the program
 * answered that the model comes from.  m(T) in double has to agree with it, to what the witness's
 * format loses: 16 times what float loses in m(T) here, scaled to the unit roundoff of the
 * witness's format, and 4 units in the last place of the largest answer.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WITNESS_H
#define HEADPROOF_HARNESS_EVALUATE_WITNESS_H

#include "../grid/grid.h"

/* Compares every weights file of the grid that has a witness, once for all points that read it as
 * the same model, and leaves what it showed in the file's witness.said: "its own logits agree to
 * 3.1e-07 over 6 windows (float32, asked for: 2.2e-04)".  0; 2 after a message: window, position, class, both numbers, and what the likeliest causes are; 99 when memory
 * is short. */
int witness_check(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

#endif
