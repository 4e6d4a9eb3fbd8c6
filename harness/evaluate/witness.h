/*
 * A model's own answers, held against m(T): whether the file was read as the model that it is.
 *
 * What a file's witness.logits (or witness.resid) say at its witness.tokens is what the program
 * answered that the model comes from.  m(T) in double has to agree with it, to what its format
 * loses: 4 times what m(T) in the format, or one like it, is off by at these tokens, and 2 units of
 * its roundoff of the largest answer.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_WITNESS_H
#define HEADPROOF_HARNESS_EVALUATE_WITNESS_H

#include "../grid/grid.h"

/* What a file leaves open becomes the one reading that its witness agrees with, which is said on
 * stderr.  point: of the file, with all else that is said.  0; 2 after a message where none fits,
 * or several; 99. */
int witness_settle(ModelSource *source, const Point *point, const RunOptions *run)
    __attribute__((warn_unused_result));

/* Compares every weights file of the grid that has a witness, once for all points that read it as
 * the same model, and leaves what it showed in the file's witness.said: "same model as its witness:
 * logits off by 3.1e-07, allowed 2.2e-06", or which readings it does not tell.  0; 2 after a
 * message: window, position, class, both numbers, and what the likeliest causes are, or the unknown
 * keys beside a witness that tells too little; 99 when memory is short. */
int witness_check(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

#endif
