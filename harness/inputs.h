/*
 * The inputs that a trained model is verified on.
 */
#ifndef HEADPROOF_HARNESS_INPUTS_H
#define HEADPROOF_HARNESS_INPUTS_H

#include "model_file.h"

/* count streams x [count, n, d], and the tokens [count, n] they come from, or NULL. */
typedef struct {
    size_t count, n;
    double *x;
    int64_t *tokens;
} Inputs;

/* Token tuples beyond this are refused. */
#define INPUTS_MOST 1000000

/* choice: "0:52/0:52/53", the tokens of each position as a value list, and every combination of
 * them is an input; NULL: the file's tokens, or its X, or every tuple of its vocabulary over its
 * context.  A tuple's stream is W_E[token] + W_pos[position], rounded once to double: that double
 * is the input, of the original and of its counterpart.  path is for messages.  0; 2 or 99 after
 * one message. */
int inputs_make(Inputs *inputs, const ModelFile *model, const char *path, const char *choice)
    __attribute__((warn_unused_result));

void inputs_clear(Inputs *inputs);

#endif
