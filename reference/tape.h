/*
 * The limit's evaluation on a tape (private to reference/): what one run of T_infinity wrote into
 * its scratch, block of heads after block, as far as a difference from it needs that.  Differences
 * at every Omega then share one evaluation of the limit, which they only read, from several threads
 * at once.
 */
#ifndef HEADPROOF_REFERENCE_TAPE_H
#define HEADPROOF_REFERENCE_TAPE_H

#include "structured.h"

/* A block of heads; empty matrices where it has no such thing. */
typedef struct {
    RunScratch
        scratch; /* score, gate, group, query, key, value and mixed, the latter before its scale */
    ApMat *pattern; /* [patterns] of bilinear scores, one a head */
    size_t patterns;
    ApMat extra[2][2]; /* value and mixed of the bundle's bias, and of its diagonal */
} TapeBlock;

enum { TAPE_BIAS, TAPE_DIAGONAL };

struct RunTape {
    mpfr_prec_t bits;
    TapeBlock *block; /* [blocks], all layers' */
    size_t blocks;
    ApMat *stream; /* [depth] after a layer */
    size_t depth;
    bool failed; /* memory was short */
};

/* For a model at bits, empty.  NULL when memory is short. */
RunTape *tape_open(const Model *model, mpfr_prec_t bits) __attribute__((warn_unused_result));
void tape_clear(RunTape *tape);

/* Bytes of a whole one. */
double tape_bytes(const Model *model, mpfr_prec_t bits);

/* Blocks of heads in a model's first sublayers, evaluated with these bits. */
size_t tape_blocks(const Model *model, mpfr_prec_t bits, size_t sublayers);

/* What run->scratch holds goes onto run->record, if there is one: of a block of heads, when all of
 * it has been mixed; the pattern of its head b; the bias's or the diagonal's part, `columns` wide.
 * tape_keep_stream: the stream after a layer. */
void tape_keep_block(RefRun *run, const Bundle *bundle, const Heads *heads);
void tape_keep_pattern(RefRun *run, const Heads *heads, size_t b);
void tape_keep_extra(RefRun *run, int which, size_t columns);
void tape_keep_stream(RefRun *run);

/* And from run->tape, if there is one, back into the scratch.  tape_play_values: the block's value
 * and mixed, after those of an extra part. */
void tape_play_block(RefRun *run);
void tape_play_pattern(RefRun *run, size_t b);
void tape_play_extra(RefRun *run, int which);
void tape_play_values(RefRun *run);
void tape_play_stream(RefRun *run);

/* The scratch is the tape's no longer: what was is not to be cleared. */
void tape_leave(RefRun *run);

#endif
