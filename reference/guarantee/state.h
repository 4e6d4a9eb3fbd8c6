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

static const Magnitude none = {0, 0}, half = {0.5, 0}, one = {0.5, 1}, two = {0.5, 2};

/* Short names, for formulas. */
static inline Magnitude sum(Magnitude a, Magnitude b)
{
    return magnitude_sum(a, b);
}

static inline Magnitude product(Magnitude a, Magnitude b)
{
    return magnitude_product(a, b);
}

static inline Magnitude least(Magnitude a, Magnitude b)
{
    return magnitude_least(a, b);
}

/* e^(-2 Omega) */
static inline Magnitude leakage(double omega)
{
    return magnitude_exp(0, omega);
}

/* Nothing changes. */
Change change_none(void);

/* Errors, and what is known of them, behind a change by the sublayer at hand. */
void state_apply(State *state, const Change *change);

/* The longest row that a sublayer reads of a bank (G2): a token's of T', or of T_infinity. */
Magnitude tokens_read(const Part *part, const State *state, Bank bank);
Magnitude limit_tokens_read(const Part *part, const State *state, Bank bank);

/* How much longer a change of a row is once it is read. */
Magnitude steepest_read(const Part *part, const State *state, Bank bank);

/* The bias row. */
Magnitude bias_row_read(const Part *part, const State *state, Bank bank);

/* Does the sublayer read the bank through a norm? */
bool reads_normed(const Part *part, Bank bank);

/* Behind heads that read products out, which a part has that is next. */
void readout_step(State *state, const Tokens *tokens, const Part *part, double omega);

/* Behind the next sublayer, which the part is. */
void part_step(State *state, const Tokens *tokens, const Part *part, double omega);

#endif
