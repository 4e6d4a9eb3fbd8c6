/*
 * One evaluation in progress (private to reference/).
 */
#ifndef HEADPROOF_REFERENCE_RUN_RUN_H
#define HEADPROOF_REFERENCE_RUN_RUN_H

#include "tape.h"

#include "../difference/difference.h"
#include "../evaluator/evaluator.h"
#include "../heads/heads.h"
#include "../radius/radius.h"
#include "../reference.h"

struct RefWeights {
    ProductWeights *packed; /* or NULL */
    NormTable *norms;
};

/* The layer, sublayer and block of heads (as a tape has them) that come next. */
typedef struct {
    size_t layer, sublayer, block;
} RunPlace;

/* Of the sublayer at hand. */
typedef struct {
    ApMat delta;    /* what it adds to the stream */
    ApMat normed;   /* norm(x), where it reads that */
    ApMat norm;     /* the record of that norm, where no tape holds it */
    Record record;  /* of the block of heads at hand, where no tape holds it */
    HeadsWork work; /* for that */
} RunScratch;

/* Reads the record of a block of heads once a part of its values is mixed: all heads', or with
 * bilinear scores those of head heads->first + b, whose pattern is there. */
typedef void RunReader(void *context, const Heads *heads, const Record *record, PartKind part,
                       size_t b);

struct RefRun {
    const Model *model;
    bool limit; /* x is evaluated for Omega -> infinity */
    mpfr_prec_t bits;
    Evaluator ev;       /* with e: its Omega is T''s */
    ApMat stream;       /* x [rows, content] */
    const ApMat *input; /* what the current sublayer reads: stream or scratch.normed */
    RunScratch scratch;
    Tape *kept;        /* the records to be written, one a block, or NULL */
    const Tape *known; /* the records and streams of x, evaluated before, or NULL */
    Difference *e;     /* r(T') - r(T_infinity), or NULL */
    /* The image under T_infinity's layer of the e that was there before it, of the token rows but
     * for the columns that the layer before cleared; or NULL (propagation.h). */
    Difference *inherited;
    const Columns *cleared;   /* [depth], for that */
    Radius *radius;           /* how far x and e may be off, or NULL: not certified */
    Radius *inherited_radius; /* and what is inherited */
    RunReader *reader;        /* or NULL */
    void *context;            /* the reader's */
    bool left_range;          /* MPFR's exponents were left, or a NaN made: the stream is NaN */
    RunPlace next;
};

/* Options of a run, besides the arguments of ref_run_open. */
typedef struct {
    bool difference; /* x is T_infinity's, and e is carried beside it; the model has heads alone */
    Tape *kept;      /* for a limit without e: where its records are to stay */
    const Tape *known;   /* for one with e: a whole tape of the same model and bits */
    RefWeights *weights; /* where the model's are kept, or NULL */
    bool coarse;         /* see Evaluator */
    RunReader *reader;   /* of what is evaluated, or NULL */
    void *context;
    /* For one with e: [depth], the columns that a layer clears, where what is inherited is to be
     * carried beside it; else NULL */
    const Columns *inherited;
} RunOptions;

/* ref_run_open, and ref_difference_open. */
RefRun *run_open(const Start *start, mpfr_prec_t bits, const RunOptions *options)
    __attribute__((warn_unused_result));

/* Does a column's entry of a token row after `layer` layers belong to T's stream, so that an error
 * there is handed on to the next?  Not where that layer cleared it: there is then nothing in T. */
bool run_hands_on(const Columns *cleared, size_t layer, size_t c);

/* x = NaN: nothing of it is to be believed. */
void run_spoil(ApMat *x);

/* The changes of x that are carried beside it: e, and of that what is inherited. */
enum { RUN_CHANGES = 2 };
static inline int run_changes(const RefRun *run)
{
    return run->e == NULL ? 0 : run->inherited == NULL ? 1 : RUN_CHANGES;
}

static inline Difference *run_change(const RefRun *run, int i)
{
    return i == 0 ? run->e : run->inherited;
}

static inline Radius *run_radius(const RefRun *run, int i)
{
    return i == 0 ? run->radius : run->inherited_radius;
}

/* The stream as it stands: x, or x + e. */
const ApMat *run_outcome(const RefRun *run);

#endif
