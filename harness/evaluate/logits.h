/*
 * Logits and predictions: tokens' rows after the last layer, times the unembedding, over all inputs
 * and the positions that are looked at.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_LOGITS_H
#define HEADPROOF_HARNESS_EVALUATE_LOGITS_H

#include "ensemble.h"
#include "position.h"
#include "../models/inputs.h"
#include "../models/positions.h"

#include <pthread.h>

/* The worst of many positions at one Omega. */
typedef struct {
    double error;          /* largest logit error, NaN if one is */
    size_t all;            /* positions */
    size_t changed;        /* those whose largest logit is another one */
    size_t lost;           /* those of them that the imitation of an activation changes, too */
    size_t imitated;       /* all that it changes */
    size_t native_changed; /* those that the machine's own evaluation of the original changes */
    Figure kl; /* the largest KL of m(T'), where it is judged or everything is looked at */
} LogitErrors;

/* worst = what a tolerance judges of them: the largest logit error, or KL. */
void logit_errors_judged(mpfr_ptr worst, const LogitErrors *errors, JudgeOf of);

/* Logits of r(T) of the first inputs kept, which many Omegas share; those of the others are worked
 * out whenever they are compared. */
typedef struct {
    const Inputs *inputs;
    RefUnembedding unembedding;
    bool has_loss;        /* the classes are the vocabulary, and tokens are known */
    double gain;          /* see ref_logits_gain */
    size_t kept, rows;    /* rows: positions of an input, at most */
    Position *found;      /* [first[inputs]] those looked at, with what logits_take found */
    size_t *first;        /* [inputs + 1] where each input's begin */
    RefLogits **value;    /* [first[kept]] of r(T), of a block by its first; NULL: not known yet */
    double margin;        /* the smallest, over positions compared so far */
    LogitErrors errors;   /* of positions compared, until they are set to zero */
    JudgeOf judged;       /* what a search compares */
    bool native;          /* of m(T), not of m(T') */
    pthread_mutex_t lock; /* of margin and errors */
} Logits;

/* Bytes, as doubles: of what is kept for an input that is kept, for any input, and of one thread's
 * work. */
double logits_kept_bytes(const Logits *logits);
double logits_input_bytes(const Logits *logits);
double logits_work_bytes(const Logits *logits);

/* About how many seconds of a thread one input's take: to be looked at as a whole, and in a
 * search. */
double logits_seconds(const Logits *logits, bool search);

/* Of inputs, which stay where they are; none is kept yet. */
void logits_init(Logits *logits, const Inputs *inputs, const ModelFile *model,
                 const Positions *positions);
void logits_clear(Logits *logits);

/* Those of so many inputs are to be kept. */
void logits_keep(Logits *logits, size_t kept);

/* How many there are, of all inputs. */
static inline size_t logits_count(const Logits *logits)
{
    return logits->first[logits->inputs->count];
}

/* Everything about input i's positions, from its streams, into positions.  May be
 * called from several threads at once. */
void logits_take(Logits *logits, size_t i, const Point *point, const RefLayer *last);

/* logits->errors = the worst of all positions that logits_take found. */
void logits_sum(Logits *logits);

/* logits->errors = m(T') W_U + b_U in double against r(T)'s over all inputs at one Omega, or where
 * native m(T) W_U + b_U.  false: a layer cannot be had. */
bool logits_compare_all(Logits *logits, Ensemble *ensemble, double omega, bool native)
    __attribute__((warn_unused_result));

/* A search of the ensemble judges the largest logit error or KL, as logits->judged says, in place
 * of streams. */
void logits_judge(Logits *logits, Ensemble *ensemble);

#endif
