/*
 * The steps of `headproof verify` (private to it).
 *
 * Umbrella header: for inputs.c, which inputs there are; choose.c, which Omega where none is given;
 * fit.c, what fits; run.c, what is evaluated; limit.c, what limits a model
 * that fails; cases.c, what reports get: a case a layer at an Omega.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_RUN_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_RUN_H

#include "every_input.h"
#include "verify.h"

/* About how many Omegas verify_search_predictions tries. */
enum { VERIFY_KEEPING_EVALUATIONS = 70 };

/* The unembedding reads the columns that the last layer is compared in? */
bool verify_has_logits(const ModelFile *model);

/* Those that return bool below: false when a layer cannot be had. */

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

/* The Omegas that keep every prediction, each end to a thousandth. */
bool verify_search_predictions(Verify *verify, OmegaSearch *found)
    __attribute__((warn_unused_result));

/* The Omegas that meet the tolerance. */
bool verify_search(Verify *verify, Found *found) __attribute__((warn_unused_result));

/* ---- Limits ---------------------------------------------------------------------------------- */

/* The binary logarithm of a cell: infinite where it is not finite, or zero, or absent. */
double verify_log2(const RefCell *cell);

/* After verify_evaluate: verify->limit becomes that of the Omega at hand, if it is worse. */
void verify_limit_take(Verify *verify);

/* Takes over the outcome of a search for the tolerance. */
void verify_limit_search(VerifyLimit *limit, const OmegaSearch *search);

/* After verify_evaluate: is the imitation's error above the tolerance, whatever Omega is? */
bool verify_imitation_fails(const Verify *verify);

/* limit becomes other, if that is known and worse. */
void verify_limit_worsen(VerifyLimit *limit, const VerifyLimit *other);

/* ": the construction leaves 1.00e-03; try an omega from 12 to 8e6, as above"; which Omega, where
 * there are several. */
void verify_limit_print(FILE *file, const VerifyLimit *limit, bool several);

/* ---- Cases ----------------------------------------------------------------------------------- */

/* Of outcome.h; row: a Verify, of whose Omega at hand they are.  The table of cases; a line of each
 * layer; one of what is proven of every input; what repeats them, the model on the same inputs. */
void verify_cases_header(FILE *file, const RunOptions *run);
void verify_cases_layers(FILE *file, const void *row);
void verify_case_proven(FILE *file, const void *row);
void verify_print_command(FILE *file, const void *row, const RunOptions *run);

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* There is one way to say what they are, and no flag that would change nothing.  0; 2 after a
 * message. */
int verify_inputs_check(const RunOptions *run) __attribute__((warn_unused_result));

/* Those that the flags name, or the model has.  0; 2 or 99 after a message. */
int verify_inputs_read(Verify *verify) __attribute__((warn_unused_result));

/* ---- Memory and time ------------------------------------------------------------------------- */

/* Refuses what does not fit whatever is kept, decides how many base trajectories are, and opens the
 * progress.  0; 2 after a message with the figures; 99 after one when a layer cannot be had. */
int verify_make_room(Verify *verify) __attribute__((warn_unused_result));

/* Begins a phase for whoever reads of progress. */
void verify_phase(Verify *verify, Phase phase, const char *label);

/* At most, of the model, with the layers in which so many threads are; and of an input that is
 * evaluated, beside it: its streams, and what is kept. */
double verify_shared_bytes(const Point *point, int threads);
double verify_input_bytes(const Point *point);

/* For --dry-run, in place of it: the command of each Omega, and on stderr, unless it is to be
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
void verify_choose_say(FILE *file, const Verify *verify, const EveryInput *every, OmegaSource from);

#endif
