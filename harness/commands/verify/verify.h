/*
 * The insides of `headproof verify` (private to it): a trained model over all its inputs.
 *
 *   verify.c   the command: options, templates, the verdict
 *   template.c  one template
 *   inputs.c   on what
 *   run.c      what is evaluated
 *   fit.c      what fits
 *   print.c    what is said of it, and the CSV
 *   positions.c  rows of positions, means, the first prediction that changes
 *   cases.c    what its reports have
 *   limit.c    what limits it, and what to try
 *   every_input.c  what is proven of every input
 *   choose.c   the Omega, where none is given
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_VERIFY_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_VERIFY_H

#include "../../../reference/guarantee/guarantee.h"
#include "../../base/decimal.h"
#include "../../evaluate/ensemble.h"
#include "../../evaluate/logits.h"
#include "../../evaluate/omega_print.h"
#include "../../models/windows.h"
#include "../outcome.h"

#include <pthread.h>

/* The largest errors after one layer over all inputs, and which input has the largest judged.
 * worst: in the max norm; judged: in the norm that is judged; score: the largest content score, 0:
 * none; judged_bound: the largest judged is only a bound. */
typedef struct {
    RefCell worst[ERROR_KINDS], judged[ERROR_KINDS];
    double score;
    size_t worst_input;
    double log2_worst;
    bool judged_bound;
    Status status;
} LayerWorst;

/* What `verify` does one after the other: base trajectories, rows at each Omega asked for, the search
 * for the tolerance, the search for the Omegas that keep every prediction. */
typedef enum { PHASE_ORIGINAL, PHASE_OMEGA, PHASE_SEARCH, PHASE_PREDICTIONS, PHASE_COUNT } Phase;

/* The largest part of the judged error, where that is worst. */
typedef enum {
    LIMIT_ERROR, /* of the reference: the status `error` */
    LIMIT_OVERFLOW,
    LIMIT_VACUOUS,
    LIMIT_IMITATION,    /* of the activation: whatever Omega is */
    LIMIT_SCORES,       /* the construction, with scores above Omega */
    LIMIT_CONSTRUCTION, /* Omega is too small */
    LIMIT_ORIGINAL,     /* the machine: T itself is worse than the tolerance */
    LIMIT_ROUNDING      /* the machine: what T' loses by its rounding */
} LimitCause;

enum { LIMIT_TEXT = 48 };

/* The worst verdict so far: kind is the largest part of the judged error at omega, and size that
 * part; native: what T loses.  searched: for Omegas that meet the tolerance, of which `found` says
 * whether there are; range, best, best_error, evaluated: as the search has them. */
typedef struct {
    bool known, passed, judged, searched, found;
    LimitCause cause;
    ErrorKind kind;
    JudgeOf judge_of;
    Activation activation;
    GeluForm gelu;
    double omega, log2_judged, score;
    char size[LIMIT_TEXT], native[LIMIT_TEXT];
    OmegaRange range;
    double best;
    char best_error[LIMIT_TEXT];
    size_t evaluated;
} VerifyLimit;

/* Where a template's Omega comes from: the command line; what is proven of every input; the inputs
 * that it is evaluated on. */
typedef enum { OMEGA_GIVEN, OMEGA_PROVEN, OMEGA_FOUND } OmegaSource;

/* One template (a point of the grid, whatever its Omega) over all inputs. */
typedef struct {
    const RunOptions *options;
    const Point *template;
    const ModelFile *model;
    double *omegas; /* [omega_count]: those the grid has for the template */
    size_t omega_count;
    double most; /* the largest Omega whose construction error is wanted */
    OmegaSource chosen;
    double aim;  /* its tolerance, or where it has none the one that an Omega is chosen for */
    Found found; /* the search for the tolerance */
    bool sought; /* it is over */
    Inputs inputs;
    uint64_t digest;       /* of all windows; 0: there are none */
    Vocabulary vocabulary; /* of a text; else of no characters */
    GivenWeights *given;   /* [inputs.count] */
    Point *points;         /* [inputs.count] */
    Family *family;        /* what the inputs share */
    Ensemble ensemble;
    Logits logits;
    LogitsJudged judged; /* where the tolerance is for them */
    bool has_logits;
    bool lists_positions; /* a row for every position that is looked at */
    Positions positions;
    LayerWorst *layers;    /* [depth], of the Omega at hand, as are those below */
    pthread_mutex_t lock;  /* of layers */
    double omega, seconds; /* seconds: that it took; omega 0: nothing was evaluated yet */
    char omega_text[DECIMAL_TEXT];
    LogitErrors errors;
    Magnitude bound;      /* of every input, with --every-input */
    bool passed, refused; /* what was evaluated meets the tolerance; the bound does not */
    /* An Omega that keeps every prediction which the imitation keeps; 0: none yet */
    double keeping;
    double seconds_of[PHASE_COUNT]; /* of a thread, for one input at one Omega, about */
    Progress progress;
    pthread_mutex_t telling; /* of the progress, while there is a ticker */
    VerifyLimit limit;
    size_t bounds;    /* cells, of layers and Omegas so far, that are only bounds */
    Outcome *outcome; /* where rows go, and what reports are made of */
    bool colors;      /* what is said has them */
} Verify;

#endif
