/*
 * The limit's evaluation kept (private to reference/): every record of one evaluation of
 * T_infinity, block of heads after block, and its streams.  Differences at every Omega then share
 * it, and only read it, from several threads at once.
 */
#ifndef HEADPROOF_REFERENCE_RUN_TAPE_H
#define HEADPROOF_REFERENCE_RUN_TAPE_H

#include "../evaluator/layer_norm.h"
#include "../heads/heads.h"

typedef struct {
    mpfr_prec_t bits;
    Record *record; /* [blocks], all layers' */
    size_t blocks;
    ApMat *norm; /* [sublayers] their records, empty where a sublayer has none */
    size_t sublayers;
    ApMat *stream; /* [sublayers] after a sublayer */
} Tape;

/* For a model at bits, empty. */
Tape *tape_open(const Model *model, mpfr_prec_t bits) __attribute__((warn_unused_result));
void tape_clear(Tape *tape);
double tape_bytes(const Model *model, mpfr_prec_t bits);

#endif
