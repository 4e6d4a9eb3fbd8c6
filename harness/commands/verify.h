/*
 * The insides of `headproof verify` (private to it): a trained model over all its inputs.
 *
 *   verify.c         the command: options, templates, the verdict
 *   verify_run.c     what is evaluated
 *   verify_cost.c    what fits, and how long it will take
 *   verify_print.c   what is said of it, and the CSV
 *   verify_limit.c   what limits it, and what to try
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_H

#include "../evaluate/ensemble.h"
#include "../models/inputs.h"
#include "../evaluate/logits.h"
#include "../table/output.h"

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

/* Seconds of one thread, the others at work too, for one input: its base trajectory; rows at all the
 * Omegas asked for; the judged error at one Omega of the search; the machine's last row. */
typedef struct {
    double base, rows, judged, last;
} InputCost;

/* What the judged error is most of, where it is worst. */
typedef enum {
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
 * whether there are; min, max, best, best_error, evaluated: as the search has them. */
typedef struct {
    bool known, passed, judged, searched, found;
    LimitCause cause;
    ErrorKind kind;
    ModelFileActivation activation;
    GeluForm gelu;
    double omega, log2_judged, score;
    char size[LIMIT_TEXT], native[LIMIT_TEXT];
    double min, max, best;
    char best_error[LIMIT_TEXT];
    size_t evaluated;
} VerifyLimit;

/* One template (a point of the grid, whatever its Omega) over all inputs. */
typedef struct {
    const RunOptions *options;
    const Point *template;
    const ModelFile *model;
    double *omegas; /* [omega_count]: those the grid has for the template */
    size_t omega_count;
    double most; /* the largest Omega whose construction error is wanted */
    Inputs inputs;
    GivenWeights *given; /* [inputs.count] */
    Point *points;       /* [inputs.count] */
    Ensemble ensemble;
    Logits logits;
    bool has_logits;
    LayerWorst *layers;   /* [depth], of the Omega at hand */
    pthread_mutex_t lock; /* of layers */
    InputCost cost;
    Progress progress;
    bool passed; /* at the Omega at hand */
    VerifyLimit limit;
    size_t bounds; /* cells, of layers and Omegas so far, that are only bounds */
    Output *output;
} Verify;

/* About how many Omegas verify_search_predictions tries. */
enum { VERIFY_KEEPING_EVALUATIONS = 70 };

/* verify_run.c.  false: memory is short. */

/* Everything that does not depend on Omega but the reference. */
bool verify_prepare(Verify *verify, int threads) __attribute__((warn_unused_result));
void verify_clear(Verify *verify);

/* The base trajectories of all inputs, and what the original predicts. */
bool verify_open_inputs(Verify *verify) __attribute__((warn_unused_result));

/* All inputs at one Omega: layers, passed, *logits. */
bool verify_evaluate(Verify *verify, double omega, LogitErrors *logits)
    __attribute__((warn_unused_result));

/* The Omegas that keep every prediction, each end to a thousandth. */
bool verify_search_predictions(Verify *verify, OmegaSearch *found)
    __attribute__((warn_unused_result));

/* The Omegas that meet the tolerance. */
bool verify_search(Verify *verify, Found *found) __attribute__((warn_unused_result));

/* verify_cost.c */

/* Refuses what does not fit whatever is kept, decides how many base trajectories are, times the
 * first inputs, says what is ahead when that is more than a few seconds, and opens the progress.
 * 0; 2 after a message with the figures; 99 after one when memory is short. */
int verify_predict(Verify *verify) __attribute__((warn_unused_result));

/* Begins a phase that uses every input so many times (more than once: about), at this many seconds
 * a use beside what is made anew; uses 0: the phase that makes what is kept. */
void verify_phase(Verify *verify, const char *label, double uses, double seconds);

/* Of one input at one Omega of the search, whose first one is for the construction error. */
double verify_search_seconds(const Verify *verify);

/* verify_print.c */

/* The columns of its rows, in order; VERIFY_ERRORS + kind is that of an error's largest entry. */
enum {
    VERIFY_MODEL,
    VERIFY_CONSTRUCTION,
    VERIFY_KERNEL,
    VERIFY_OMEGA,
    VERIFY_INPUTS,
    VERIFY_LAYER,
    VERIFY_ERRORS,
    VERIFY_BOUNDS = VERIFY_ERRORS + ERROR_KINDS,
    VERIFY_JUDGED_LOG2,
    VERIFY_WORST_INPUT,
    VERIFY_LOGIT_ERROR,
    VERIFY_MARGIN,
    VERIFY_SAFETY,
    VERIFY_CHANGED,
    VERIFY_STATUS,
    VERIFY_COLUMNS
};

/* The name of a column < VERIFY_COLUMNS. */
const char *verify_column(size_t column);

int verify_write_header(FILE *file);
int verify_write_rows(const Verify *verify, double omega, const LogitErrors *logits);

/* The cells from logit_error to predictions_changed, a comma before each; or blank ones. */
void verify_write_logits(FILE *file, double error, double margin, size_t changed);
void verify_write_no_logits(FILE *file);
void verify_print_model(const Verify *verify);
void verify_print_omega(const Verify *verify, double omega, const LogitErrors *logits);
void verify_print_found(const Verify *verify, const Found *found);
void verify_print_keeping(const OmegaSearch *found);
/* bounds: cells that are only bounds, of points that are certified. */
void verify_print_verdict(const Grid *grid, bool passed, const VerifyLimit *limit, size_t bounds);

/* verify_limit.c */

/* The binary logarithm of a cell: infinite where it is not finite, or zero, or absent. */
double verify_log2(const RefCell *cell);

/* After verify_evaluate: verify->limit becomes that of this Omega, if it is worse. */
void verify_limit_take(Verify *verify, double omega);

/* What a search for the tolerance found. */
void verify_limit_search(VerifyLimit *limit, const OmegaSearch *search);

/* limit becomes other, if that is known and worse. */
void verify_limit_worsen(VerifyLimit *limit, const VerifyLimit *other);

/* ": the construction leaves 1.00e-03; try an omega from 12 to 8e6, as above"; which Omega, where
 * there are several. */
void verify_limit_print(const VerifyLimit *limit, bool several);

#endif
