/*
 * The insides of `headproof verify` (private to it): a trained model over all its inputs.
 *
 * Umbrella header: for template.c, one template; choose.c, which Omega where none is given; fit.c,
 * what fits in memory; run.c, what is evaluated; input_rows.c, what an input came to;
 * limit.c, what limits a model, and what to try; every_input.c, what is proven of every input;
 * print.c, what is said of it, and the CSV; positions.c, of positions; cases.c, what reports get: a
 * case a layer at an Omega.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_VERIFY_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_VERIFY_H

#include "columns.h"

#include "../../../reference/guarantee/guarantee.h"
#include "../../base/conclusion.h"
#include "../../base/decimal.h"
#include "../../base/ticker.h"
#include "../../evaluate/ensemble.h"
#include "../../evaluate/logits.h"
#include "../../evaluate/omega_print.h"
#include "../../models/inputs.h"
#include "../guarantee/bound.h"
#include "../kept.h"
#include "../outcome.h"

#include <pthread.h>

/* What `verify` does one after the other: base trajectories, rows at each Omega asked for, the
 * search for the tolerance, the search for the Omegas that keep every prediction. */
typedef enum { PHASE_ORIGINAL, PHASE_OMEGA, PHASE_SEARCH, PHASE_PREDICTIONS, PHASE_COUNT } Phase;

/* The largest part of the judged error, where that is worst. */
typedef enum {
    LIMIT_ERROR, /* of the reference: the status `error` */
    LIMIT_OVERFLOW,
    LIMIT_VACUOUS,
    LIMIT_IMITATION,    /* of the activation: whatever Omega is */
    LIMIT_CONSTRUCTION, /* Omega is too small */
    LIMIT_ORIGINAL,     /* the machine: T itself is worse than the tolerance */
    LIMIT_ROUNDING      /* the machine: what T' loses by its rounding */
} LimitCause;

enum { LIMIT_TEXT = 48 };

/* The worst verdict so far: at which Omega, why, and behind the searches what to try about it. */
typedef struct {
    bool known, passed;
    LimitCause cause;
    double omega, log2_judged;
    char cause_text[2 * LIMIT_TEXT + 64], advice[256];
} VerifyLimit;

/* Where a template's Omega comes from: the command line; what is proven of every input; the inputs
 * that it is evaluated on. */
typedef enum { OMEGA_GIVEN, OMEGA_PROVEN, OMEGA_FOUND } OmegaSource;

/* The inputs of a run, or of one shard, of the seed that they may be drawn by.  digest: of all
 * windows; 0: there are none. */
typedef struct {
    Inputs inputs;
    Positions positions;
    uint64_t seed, digest;
    bool there;
} Chosen;

/* One template (a point of the grid, whatever its Omega) over all inputs. */
typedef struct {
    const RunOptions *options;
    const Point *template;
    const ModelFile *model;
    double *omegas;  /* [omega_count]: those the grid has for the template */
    size_t *members; /* [omega_count]: the grid's points of them */
    size_t omega_count;
    double most; /* the largest Omega whose construction error is wanted */
    OmegaSource chosen;
    double aim;    /* its tolerance, or where it has none the one that an Omega is chosen for */
    Found found;   /* the search for the tolerance */
    bool sought;   /* it is over */
    Inputs inputs; /* of Chosen, as are the positions */
    Positions positions;
    GivenWeights *given; /* [inputs.count] */
    Point *points;       /* [inputs.count] */
    Shared *family;      /* what the inputs share */
    Ensemble ensemble;
    Logits logits;
    bool has_logits;
    VerifyRow *layers;     /* [depth], of the Omega at hand, as are those below */
    bool *done;            /* [inputs.count], inputs that an interrupted run left */
    double omega, seconds; /* seconds: that it took; omega 0: nothing was evaluated yet */
    char omega_text[DECIMAL_TEXT];
    LogitErrors errors;
    Magnitude bound;      /* of every input, with --every-input */
    bool passed, refused; /* what was evaluated meets the tolerance; the bound does not */
    /* An Omega that keeps every prediction which the imitation keeps; 0: none yet */
    double keeping;
    double seconds_of[PHASE_COUNT]; /* of a thread, for one input at one Omega, about */
    VerifyLimit limit;
    size_t bounds;    /* cells, of layers and Omegas so far, that are only bounds */
    Outcome *outcome; /* where rows go, and what reports are made of */
    Kept *kept;
    bool colors; /* what is said has them */
} Verify;

/* The proof for every input (docs/omega.md), of one model after another.  misses: some Omega is not
 * proven to meet the tolerance; omega: the smallest that is, at the last of them; INFINITY: none
 * is. */
typedef struct {
    const RunOptions *run;
    Bound bound;
    Point point; /* whose it is */
    bool there, said, misses;
    double omega;
} EveryInput;

/* Counts and digests over all templates so far.  every: the proof for every input; digest: of the
 * flags that name the inputs, and of the inputs; bounds: cells that are only bounds. */
typedef struct {
    Outcome outcome;
    SweepRecord record;
    EveryInput every;
    VerifyLimit limit;
    Chosen chosen_inputs;
    Kept kept;
    size_t bounds;
    bool chosen; /* some Omega was, by the inputs that it is judged on */
} Verdict;

/* ---- A template ------------------------------------------------------------------------------ */

/* Everything but Omega is the same. */
bool verify_same_template(const Point *a, const Point *b);

/* Every Omega that the grid has for the template, then the searches: 0, or an exit code after a
 * message. */
int verify_template(Verdict *verdict, Verify *verify, Grid *grid, int threads)
    __attribute__((warn_unused_result));

/* ---- One input ------------------------------------------------------------------------------- */

/* The rows [depth] of an input at the Omega at hand are there, whose evaluation began then, and its
 * positions: they are kept, and added to the layers.  false: they could not be written. */
bool input_rows_add(Verify *verify, size_t input, const Point *point, const Row *rows, double start)
    __attribute__((warn_unused_result));

/* Adds those of the Omega at hand that are there, which verify->done then says.  false: one is not
 * what it should be. */
bool input_rows_restore(Verify *verify) __attribute__((warn_unused_result));

/* ---- Evaluations; those that return bool: false when a layer cannot be had ------------------- */

/* The unembedding reads the columns that the last layer is compared in? */
bool verify_has_logits(const ModelFile *model);

/* The template at the Omega at hand. */
static inline Point verify_point(const Verify *verify)
{
    Point point = *verify->template;
    point.omega = verify->omega;
    return point;
}

/* Everything that does not depend on Omega but the reference. */
void verify_prepare(Verify *verify, int threads);
void verify_clear(Verify *verify);

/* The exit code where one of these says that it could not go on, after a message: memory was short,
 * or the weights could not be read. */
int verify_fault(const Verify *verify);

/* Do logits meet the tolerance, where it is for them?  What is no number does not. */
bool verify_logits_pass(const Verify *verify, const LogitErrors *errors);

/* The base trajectories of all inputs that are kept. */
bool verify_open_inputs(Verify *verify) __attribute__((warn_unused_result));

/* All inputs at one Omega, which is then the one at hand: layers, errors, passed. */
bool verify_evaluate(Verify *verify, double omega) __attribute__((warn_unused_result));

/* About how many Omegas verify_search_predictions tries. */
enum { VERIFY_KEEPING_EVALUATIONS = 70 };

/* The Omegas that keep every prediction, each end to a thousandth. */
bool verify_search_predictions(Verify *verify, OmegaSearch *found)
    __attribute__((warn_unused_result));

/* The Omegas that meet the tolerance, into found. */
bool verify_search(Verify *verify) __attribute__((warn_unused_result));

/* ---- Memory and time ------------------------------------------------------------------------- */

/* Refuses what does not fit whatever is kept, decides how many base trajectories are, and opens the
 * progress.  0; 2 after a message with the figures; 99 after one when a layer cannot be had. */
int verify_make_room(Verify *verify) __attribute__((warn_unused_result));

/* Begins a phase for whoever reads of progress, until the ticker is closed. */
Ticker *verify_phase(Verify *verify, Phase phase, const char *label)
    __attribute__((warn_unused_result));

/* At most, of the model, with the layers in which so many threads are; and of an input that is
 * evaluated, beside it: its streams, and what is kept. */
double verify_shared_bytes(const Point *point, int threads);
double verify_input_bytes(const Point *point);

/* For --dry-run, in place of all that: the command of each Omega, and on stderr, unless it is to be
 * quiet, what all inputs and one take. */
void verify_dry_run(Verify *verify);

/* ---- The Omega chosen ------------------------------------------------------------------------ */

/* Is an Omega to be chosen?  Then verify->chosen says so, and verify->aim what it is to meet;
 * before every_input_open. */
void verify_choose_begin(Verify *verify);

/* After it: the smallest that is proven for every input, where one is and the machine has it.  0; 2
 * or 99 after a message. */
int verify_choose_proven(Verify *verify, const EveryInput *every)
    __attribute__((warn_unused_result));

/* After verify_open_inputs: where none was, or the verdict at that one is FAIL, the smallest of the
 * plateau that the inputs show.  What was proven is evaluated then.  false: a layer cannot be
 * had. */
bool verify_choose_found(Verify *verify) __attribute__((warn_unused_result));

/* The line that says which it is, and why, where that is known and it came from there. */
void verify_choose_say(const Verify *verify, const EveryInput *every, OmegaSource from);

/* ---- Every input ----------------------------------------------------------------------------- */

/* Before any work: 2, after a message, where --every-input cannot be. */
int every_input_check(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* Proves bounds for the template's model, whose inputs are read: with --every-input, or where that
 * takes no time and somebody reads them.  0; 2 or 99 after a message.  Clear it in every case. */
int every_input_open(EveryInput *every, const Verify *verify) __attribute__((warn_unused_result));
void every_input_clear(EveryInput *every);

/* The smallest that is proven to meet verify->aim, or 0: none is, or what is judged is nothing that
 * is proven. */
double every_input_choose(const EveryInput *every, const Verify *verify);

/* "every input of up to 3 tokens: ", and what of it: "all logits". */
void every_input_print_inputs(FILE *file, const EveryInput *every);
const char *every_input_what(const Verify *verify);

/* With --every-input: its case at the Omega at hand, which verify->passed then hangs on, too. */
void every_input_judge(EveryInput *every, Verify *verify);

/* The sentence, a line of it; not twice of one model. */
void every_input_say(FILE *file, EveryInput *every, const Verify *verify);

/* Of the verdict: "; every input: ...", with --every-input. */
void every_input_print(FILE *file, const EveryInput *every);

/* ---- Limits ---------------------------------------------------------------------------------- */

/* After verify_evaluate: verify->limit becomes that of the Omega at hand, if it is worse. */
void verify_limit_take(Verify *verify);

/* Behind the searches: what to try about it. */
void verify_limit_advise(Verify *verify);

/* After verify_evaluate: is the imitation's error above the tolerance, whatever Omega is? */
bool verify_imitation_fails(const Verify *verify);

/* limit becomes other, if that is known and worse. */
void verify_limit_worsen(VerifyLimit *limit, const VerifyLimit *other);

/* ": the construction leaves 1.00e-03; try an omega from 12 to 8e6, as above"; which Omega, where
 * there are several. */
void verify_limit_print(FILE *file, const VerifyLimit *limit, bool several);

/* ---- Sentences and tables -------------------------------------------------------------------- */

/* The rows of the Omega at hand; row: a Verify (outcome.h). */
void verify_write_rows(FILE *file, const void *row);

/* Means over all positions that were looked at; the cells of one; lines of divergences, of losses
 * and of the first change, each after "omega 20, ". */
void verify_means(PositionMeans *means, const Verify *verify);
void verify_row_position(VerifyRow *row, const Verify *verify, const Position *position);
void verify_print_positions(FILE *file, const Verify *verify);

void verify_print_model(FILE *file, const Verify *verify);
void verify_print_omega(FILE *file, const Verify *verify);
void verify_print_found(FILE *file, const Verify *verify);
void verify_print_keeping(FILE *file, const Verify *verify, const OmegaSearch *found);

/* A line without its end. */
Conclusion verify_print_verdict(FILE *file, const Grid *grid, const Verdict *verdict);

/* Of outcome.h; row: a Verify, of whose Omega at hand they are.  The table of cases; a line of each
 * layer; one of what is proven of every input; what repeats them, the model on the same inputs. */
void verify_cases_header(FILE *file, const RunOptions *run);
void verify_cases_layers(FILE *file, const void *row);
void verify_case_proven(FILE *file, const void *row);
void verify_print_command(FILE *file, const void *row, const RunOptions *run);

#endif
