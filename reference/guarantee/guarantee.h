/*
 * How far r(T') can be from r(T_infinity), for every input and every larger Omega, proven
 * (docs/proof.md, whose inequalities (G1), (G2), ... are cited where they are coded).
 *
 * Umbrella header: what other directories use of this room.
 */
#ifndef HEADPROOF_REFERENCE_GUARANTEE_GUARANTEE_H
#define HEADPROOF_REFERENCE_GUARANTEE_GUARANTEE_H

#include "magnitude.h"

#include "../../cases/model.h"

typedef struct Guarantee Guarantee;

/* An embedding: X has w_e[token] + w_pos[position] in its rows. */
typedef struct {
    const double *w_e;   /* [vocabulary, d] */
    const double *w_pos; /* [at least n, d], or NULL */
    size_t vocabulary, n, d;
    int stored_digits, stored_least_exponent; /* X has it rounded so (cases/case.h); 0: as it is */
} GuaranteeInputs;

/* The question: which pair, over which inputs.  Weights must live until guarantee_open returns. */
typedef struct {
    const Pair *pair;     /* built; its input does not matter */
    Magnitude input_norm; /* no row of a bank of X is longer */
    const double *w_u;    /* the unembedding [d, classes], or NULL */
    bool by_class;        /* it lies class by class */
    size_t classes;
    const GuaranteeInputs *inputs; /* where X is made of tokens; or NULL */
} GuaranteeOf;

/* The sources of the error. */
typedef enum {
    GUARANTEE_ATTENTION, /* tokens' attention that the bias row takes */
    GUARANTEE_OTHERS,    /* other tokens, of heads that attend to themselves */
    GUARANTEE_BIAS_ROW,  /* what the bias row holds */
    GUARANTEE_BIASES,    /* biases that ride on tokens */
    GUARANTEE_TERMS
} GuaranteeTerm;

/* After a layer, at one Omega.  All in 2-norms of rows. */
typedef struct {
    Magnitude rows;     /* a token's row of T_infinity */
    Magnitude scores;   /* a content score of the layer's attention; 0: it has none */
    Magnitude gain;     /* how many times an error before the layer is there behind it */
    Magnitude leak;     /* the error that the layer adds */
    Magnitude bias_row; /* the bias row of T' */
    Magnitude error;    /* a token's row of r(T') - r(T_infinity), in the columns compared */
    Magnitude apart;    /* a token's row of r(T_infinity) - r(T), as far as tau makes it */
    size_t sublayer;    /* where the largest part of it is from, from 1, in the whole stack */
    GuaranteeTerm term; /* and of what */
} GuaranteeLayer;

/* *norm: no row of X is longer, whatever its token and its position. */
void guarantee_input_norm(Magnitude *norm, const GuaranteeInputs *inputs);

/* How many doubles their rows take at most, while bounds are made of them. */
double guarantee_input_doubles(const GuaranteeInputs *inputs, size_t heads);

/* NULL where the pair is outside of what is proven: where entries of Omega are lost or more than a
 * causal mask needs, the bias row holds something at first, or heads are none that cases/ makes. */
Guarantee *guarantee_open(const GuaranteeOf *of) __attribute__((warn_unused_result));
void guarantee_clear(Guarantee *guarantee);

/* layers [depth], or NULL.  Returns the bound of what is judged: of every logit, or, without an
 * unembedding, of every entry of the stream after every layer. */
Magnitude guarantee_at(const Guarantee *guarantee, double omega, GuaranteeLayer *layers);

/* The smallest Omega, to 6 digits, of which shrink times as much has a bound that is at most the
 * tolerance; INFINITY where that of the largest double is not. */
double guarantee_omega(const Guarantee *guarantee, double tolerance, double shrink);

/* Of one that reads gated networks' products out: with so many pairs and that tau from now on, and
 * what is judged is r(T') - r(T), activations being as heads imitate them. */
bool guarantee_reads_out(const Guarantee *guarantee);
void guarantee_set_tau(Guarantee *guarantee, size_t pairs, double tau);

/* The largest tau of so many pairs that takes at most half of the tolerance; 0: none does. */
double guarantee_tau(const Guarantee *guarantee, size_t pairs, double tolerance);

/* Of a row's error the bound of every logit's. */
Magnitude guarantee_logits(const Guarantee *guarantee, Magnitude error);

/* A machine's numbers, as far as they do not depend on the order of its sums. */
typedef struct {
    double rounding;          /* the largest unit roundoff of a format that numbers are kept in */
    double smallest, largest; /* its least normal number, and its largest, of all those formats */
    double sums, range;       /* unit roundoff and largest number of sums and exponentials */
    double exp_zero;          /* e^-x is 0 for every x above it */
} MachineNumbers;

/* From which Omega the weights that leak are exactly zero in a machine ((Z0) to (Z7)).  *omega:
 * from it on, whatever the input, the negative form of the rewrite has the same bits; INFINITY: of
 * none that is proven. */
void guarantee_zero_leak(double *omega, const GuaranteeOf *of, const MachineNumbers *machine);

/* The words of tables. */
extern const char *const guarantee_terms[GUARANTEE_TERMS];

#endif
