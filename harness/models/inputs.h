/*
 * The inputs that a trained model is verified on.
 *
 * Umbrella header: for windows.c, too: inputs that are windows of lines of token ids.
 */
#ifndef HEADPROOF_HARNESS_MODELS_INPUTS_H
#define HEADPROOF_HARNESS_MODELS_INPUTS_H

#include "model_file.h"

typedef struct {
    size_t count;         /* of inputs */
    size_t n;             /* rows of each */
    size_t shard, shards; /* they are every shards-th of all, from the shard-th (from 1) on */
    double *x;            /* [count, n, d], their streams */
    int64_t *tokens;      /* [count, n], what the streams come from, or NULL */
    /* Windows of longer sequences, else NULL: [count] the first position that no earlier window
     * had, and the token that follows in the sequence, or -1. */
    size_t *from;
    int64_t *next;
    size_t stride, moved; /* of windows; tokens by which last ones begin earlier, to be whole */
    char of[48]; /* where they are a sample, of how many: "157464", "50257^1024"; else "" */
} Inputs;

/* Token tuples beyond this are refused; and of a vocabulary's, where nobody chooses, so many are
 * drawn. */
#define INPUTS_MOST 1000000
#define INPUTS_DRAWN 256
#define INPUTS_LENGTH 64 /* of what is drawn, where no table of positions says how long it may be */

/* choice: "0:52/0:52/53", the tokens of each position as a value list, and every combination of
 * them is an input; "all": every tuple of the vocabulary over the context; NULL: the file's tokens,
 * or its X, or those tuples, or of more than INPUTS_DRAWN so many, drawn by the seed, no two the
 * same.  A tuple's stream is W_E[token] + W_pos[position], rounded once to double: that double
 * is the input, of the original and of its counterpart.  path is for messages.  0; 2 or 99 after
 * one message. */
int inputs_make(Inputs *inputs, const ModelFile *model, const char *path, const char *choice,
                uint64_t seed) __attribute__((warn_unused_result));

/* A digest of the tokens of windows, and of what is looked at of them; 0 where there are none. */
uint64_t inputs_digest(const Inputs *inputs);

/* x [n, d] = W_E[token] + W_pos[position] of one tuple, as above.  The model has a W_E. */
void inputs_embed(double *x, const ModelFile *model, const int64_t *tokens, size_t n);

/* Room for them, with tokens or without, and streams of zeros. */
void inputs_allocate(Inputs *inputs, size_t count, size_t n, size_t d, bool tokens);

/* Streams of all, from their tokens. */
void inputs_embed_all(Inputs *inputs, const ModelFile *model);

/* Keeps those of a shard alone.  0; 2 after a message when it would have none. */
int inputs_take_shard(Inputs *inputs, size_t d, size_t shard, size_t shards)
    __attribute__((warn_unused_result));

/* The number, from 1, that input i has among all. */
size_t inputs_number(const Inputs *inputs, size_t i);

void inputs_clear(Inputs *inputs);

/* ---- Windows --------------------------------------------------------------------------------- */

/* Where sequences of tokens are read from; window and stride 0: as standard. */
typedef struct {
    const char *ids; /* a file of token ids with blanks or a comma between them, a sequence a line;
                        lines without any are skipped */
    size_t window, stride;
    double room; /* bytes that streams may take */
} WindowsAsked;

/* Windows of the sequences that a file has: of asked->window tokens, or as standard of the model's
 * context or the first sequence, whichever is shorter; one begins asked->stride behind the one
 * before, or as standard where that ends.  The last window of a sequence begins earlier where it
 * would be shorter, so that it is whole.  0; 2 or 99 after one message that names file, line and
 * token. */
int windows_read(Inputs *inputs, const ModelFile *model, const char *path,
                 const WindowsAsked *asked) __attribute__((warn_unused_result));

#endif
