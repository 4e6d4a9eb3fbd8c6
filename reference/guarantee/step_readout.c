/*
 * What heads do that read a gated network's products out: (G29) to (G32) of docs/proof.md.
 */
#include "state.h"

#include <math.h>

/* Of K pairs: sums of |c| and of |c|/tau_j times tau, rounded up; the error over y of (G31) is at
 * most least eta^(2K). */
typedef struct {
    double c, c_over_tau, least;
} PairSums;
static const PairSums pair_sums[PAIRS_MOST + 1] = {
    [1] = {1, 1, 0.083333333333333343},
    [2] = {1.6666666666666674, 1.5000000000000007, 0.033333333333333347},
    [3] = {1.8888888888888897, 1.6500000000000008, 0.053968253968253978}};

/* Of rows at most r long: |h|, which is off by e, and |b|, and their largest entries. */
typedef struct {
    Magnitude h, h_entry, b, b_entry;
} Factors;

static Factors factors_of(const ReadoutBound *w, Magnitude r, Magnitude e)
{
    const FactorBound *gate = &w->gate, *up = &w->up;
    return (Factors){sum(product(w->reach, sum(product(gate->w, r), gate->c)), e),
                     sum(product(w->reach, sum(product(gate->column, r), gate->entry)), e),
                     sum(product(up->w, r), up->c), sum(product(up->column, r), up->entry)};
}

/* The norm of all h b, times `out`. */
static Magnitude product_of(const Factors *of, Magnitude out)
{
    return product(out, least(product(of->h_entry, of->b), product(of->h, of->b_entry)));
}

/* (G29): no h.b of an output, h in hidden columns, is larger; e: an error of h. */
static Magnitude largest_product(const ReadoutBound *w, Magnitude r, Magnitude e)
{
    const Factors factors = factors_of(w, r, e);
    Magnitude most = none, together = product_of(&factors, w->out_column);
    for (size_t d = 0; w->each != NULL && d < w->outputs; d++) {
        const OutputBound *own = &w->each[d];
        Magnitude own_h = product(w->reach, sum(product(own->gate, r), own->gate_bias));
        most = magnitude_most(most, product(sum(own_h, product(own->root, e)),
                                            sum(product(own->up, r), own->up_bias)));
    }
    return w->each != NULL ? least(most, together) : together;
}

/* (G31): what tau leaves of products in the limit, and *longest: |y|. */
static Magnitude read_apart(Magnitude *longest, const ReadoutBound *w, const Tokens *tokens,
                            Magnitude r)
{
    const PairSums *sums = &pair_sums[tokens->readout];
    const Factors factors = factors_of(w, r, none);
    Magnitude eta = product(number(tokens->tau), largest_product(w, r, none)),
              square = magnitude_square(eta), power = square;
    for (size_t j = 1; j < tokens->readout; j++) {
        power = product(power, square);
    }
    *longest = product_of(&factors, w->out);
    /* Coefficients are multiples of 2^-50. */
    Magnitude rounded = tokens->readout > 1 ? product(number(0x1p-46), square) : none;
    return product(sum(product(number(sums->least), power), rounded), *longest);
}

void readout_step(State *state, const Tokens *tokens, const Part *part, double omega)
{
    const ReadoutBound *w = &part->readout;
    const Bank bank = BANK_CONTENT, hidden = BANK_HIDDEN;
    const PairSums *sums = &pair_sums[tokens->readout];
    const Magnitude slope = {0.5 + 0x1p-49, 1}; /* (G31) */
    const Read read = read_of(part, state, bank);
    Magnitude r = read.token, b = read.bias_row, leaked = leakage(omega),
              e = w->direct ? none : state->read->error[hidden],
              h = sum(state->rows[hidden], state->error[hidden]), longest;
    const Factors factors = factors_of(w, r, e);
    double last = ldexp(tokens->tau, (int)tokens->readout - 1);
    Magnitude inverses = product(number(sums->c_over_tau), number(1 / tokens->tau)),
              spread = product(inverses, magnitude_root(magnitude_of_size(w->outputs))),
              key = product(w->up.bias_row, b),
              query = w->direct ? product(w->gate.bias_row, b) : state->bias_row[hidden],
              four = product(product(two, two), spread);
    double raised = magnitude_double(product(number(2 * last), largest_product(w, r, e)));
    Change change = change_none();
    Magnitude *term = change.term[bank];
    /* (G30) */
    term[GUARANTEE_OTHERS] =
        least(four, product(product(spread, tokens->others), magnitude_exp(raised, omega)));
    term[GUARANTEE_BIAS_ROW] =
        least(four, product(product(number(sums->c), w->out), product(factors.h_entry, key)));
    term[GUARANTEE_BIASES] = product(leaked, sum(product(two, spread), w->out_bias));
    change.term[hidden][GUARANTEE_OTHERS] = product(product(leaked, tokens->pairs), h);
    change.term[hidden][GUARANTEE_BIAS_ROW] = product(leaked, state->bias_row[hidden]);
    Magnitude of_query = product(slope, product(w->out, factors.b_entry)),
              of_key = product(slope, product(w->out, product(factors.h_entry, w->up.w)));
    of_key = w->direct ? sum(of_key, product(of_query, w->gate.w)) : of_key;
    change.own[hidden] = none;
    change.kept[hidden][bank] = w->direct ? none : of_query;
    change.kept[bank][bank] = product(of_key, read.steep);
    change.apart = read_apart(&longest, w, tokens, read.limit);
    state_apply(state, &change);
    state->rows[bank] = sum(state->rows[bank], sum(product(slope, longest), w->out_bias));
    state->rows[hidden] = none;
    /* (G32) */
    raised = magnitude_double(
        product(product(number(last), w->out_column), product(query, sum(factors.b_entry, key))));
    Magnitude share = product(tokens->n, leaked),
              rho = least(one, product(tokens->n, magnitude_exp(raised, omega))),
              content =
                  sum(product(four, rho), product(share, sum(product(two, spread), w->out_bias)));
    Magnitude left = product(least(one, share), sum(h, state->bias_row[hidden]));
    state->bias_row[bank] = sum(state->bias_row[bank], content);
    state->bias_row[hidden] = left;
}
