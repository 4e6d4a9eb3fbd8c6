/*
 * Facts that the data of a pair prove without any arithmetic (private to reference/;
 * docs/mathematics.md, section 4, "Proven zeros").
 */
#ifndef HEADPROOF_REFERENCE_ZEROS_PROOF_H
#define HEADPROOF_REFERENCE_ZEROS_PROOF_H

#include "../reference.h"

/* Flags that hold of every entry of a block, in exact arithmetic and at every Omega. */
enum {
    PROVEN_ZERO = 1,  /* 0, in T_infinity and in T' */
    PROVEN_GIVEN = 2, /* what the stream began with, in T_infinity and in T' */
    PROVEN_SAME = 4,  /* the same in T' as in T_infinity */
    PROVEN_ALL = 7
};

typedef struct RefProof RefProof;

/* From weights, inputs and position scores alone.  NULL when a layer cannot be had. */
RefProof *proof_make(const Pair *pair) __attribute__((warn_unused_result));
void proof_clear(RefProof *proof);

/* PROVEN_ flags of T' after layer (from 1): of tokens `rows` in the columns compared; of every
 * token in the columns cleared (0 where there are none); of the bias row's content (0 without
 * one). */
int proof_compared(const RefProof *proof, size_t layer, RefRows rows);
int proof_cleared(const RefProof *proof, size_t layer);
int proof_bias_row(const RefProof *proof, size_t layer);

/* Is T's stream there what it began with? */
bool proof_original_given(const RefProof *proof, size_t layer, RefRows rows);

#endif
