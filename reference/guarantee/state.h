/*
 * Bounds on a stream between two sublayers, and a sublayer's effect on errors (private to
 * reference/guarantee/).
 *
 * Umbrella header: for steps.c and step_readout.c, too, the steps of each kind of sublayer.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_STATE_H
#define HEADPROOF_REFERENCE_GUARANTEE_STATE_H

#include "part.h"

/* The number of tokens, as bounds use it. */
typedef struct {
    Magnitude n, others; /* N, and N - 1 */
    Magnitude pairs;     /* 2N - 1 */
    bool causal;         /* the bias row sees itself alone, and stays zero (G1) */
    size_t readout;      /* pairs that read products out, */
    double tau;          /* and their tau */
} Tokens;

/* Where the largest part of an error is from. */
typedef struct {
    Magnitude size;
    size_t sublayer;
    GuaranteeTerm term;
} Origin;

/* After some sublayers, by bank. */
typedef struct State State;
struct State {
    const State *read;                  /* what the sublayer at hand reads */
    Magnitude rows[BANKS];              /* of T_infinity */
    Magnitude error[BANKS];             /* E */
    Magnitude apart[BANKS];             /* of T_infinity's row and T's, by tau (G31) */
    Magnitude bias_row[BANKS];          /* b */
    Magnitude gain[BANKS], leak[BANKS]; /* since the layer began */
    Origin origin[BANKS];
    Magnitude scores;
    size_t sublayer; /* the one at hand, from 1 in the whole stack, for the origin of errors */
};

/* One sublayer's effect on errors: E' = own E + sum of kept E + sum of terms, and no more than
 * limit; kept is what is there of the stream that the sublayer reads. */
typedef struct {
    Magnitude own[BANKS];
    Magnitude kept[BANKS][BANKS]; /* from, to */
    Magnitude term[BANKS][GUARANTEE_TERMS];
    Magnitude apart; /* what reading products out adds to `apart` of the content */
    Magnitude limit[BANKS];
} Change;

/* e^(-2 Omega) */
static inline Magnitude leakage(double omega)
{
    return magnitude_exp(0, omega);
}

/* Nothing changes. */
Change change_none(void);

/* Errors, and what is known of them, behind a change by the sublayer at hand. */
void state_apply(State *state, const Change *change);

/* What a sublayer reads of a bank (G2): no token's row of T' or of T_infinity is longer, nor the
 * bias row; by how much a change of a row is longer there. */
typedef struct {
    bool normed; /* through a norm */
    Magnitude token, limit, bias_row, steep;
} Read;

Read read_of(const Part *part, const State *state, Bank bank);

/* Behind heads that read products out, which a part has that is next. */
void readout_step(State *state, const Tokens *tokens, const Part *part, double omega);

/* Behind the next sublayer, which the part is. */
void part_step(State *state, const Tokens *tokens, const Part *part, double omega);

#endif
