/*
 * The figures of one position of an input: errors, logits, predictions, losses and divergences.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_POSITION_H
#define HEADPROOF_HARNESS_EVALUATE_POSITION_H

#include "evaluate.h"
#include "figure.h"
#include "../../reference/logits/divergence.h"

/* Whose distribution over the classes is held against r(T)'s. */
typedef enum {
    AGAINST_CONVERTED, /* r(T') */
    AGAINST_MACHINE,   /* m(T') */
    AGAINST_NATIVE,    /* m(T) */
    AGAINST_COUNT
} Against;

/* Losses: of r(T), and of 1 + each of those that are held against it; behind them divergences. */
enum { LOSSES = 1 + AGAINST_COUNT, POSITION_KL = LOSSES, POSITION_MEANS = LOSSES + AGAINST_COUNT };

/* A loss is of the next token, in nats; absent where there is none or the classes are not the
 * vocabulary. */
typedef struct {
    size_t input, index;          /* of the inputs, and of its tokens, both from 0 */
    size_t predicted, machine;    /* the class of r(T)'s largest logit, and of m(T')'s */
    double error;                 /* largest |m(T') - r(T)| of a logit, NaN if one is */
    double margin;                /* by how much r(T)'s largest leads */
    bool changed;                 /* they differ, or m(T')'s is no number */
    bool native_changed;          /* m(T)'s is another, or no number: no rewrite is to blame */
    bool known;                   /* predicted and margin are */
    bool taken;                   /* all is, at some Omega: whether it is lost, too */
    bool lost;                    /* with an imitated activation r(T')'s is another, at every Omega
                                * taken so far */
    Figure means[POSITION_MEANS]; /* losses, and from POSITION_KL on divergences */
    Figure errors[ERROR_KINDS];   /* largest entries, of the stream after the last layer */
    Figure logs[ERROR_KINDS];     /* their logarithms to the base of ten */
} Position;

/* The logits of a position.  next: the token behind it, or -1; digits: of a figure. */
typedef struct {
    mpfr_srcptr original;             /* [classes] r(T)'s logits */
    const double *converted, *native; /* [classes] m(T')'s and m(T)'s */
    RefLogits *change;                /* row `row`: r(T')'s less r(T)'s; it is used up */
    size_t row, classes;
    const RefUnembedding *unembedding;
    double gain; /* see ref_logits_gain */
    int64_t next;
    RefSoftmax *softmax; /* to work with */
    int digits;
} PositionLogits;

/* Everything at a position, whose index says which. */
void position_take(Position *position, const PositionLogits *logits, const RefLayer *last);

/* Fills in the figures of m(T') alone: its prediction and its logits' error; with kl, its
 * divergence. */
void position_compare(Position *position, const PositionLogits *logits, bool kl);

#endif
