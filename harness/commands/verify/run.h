/*
 * What `headproof verify` evaluates (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_RUN_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_RUN_H

#include "verify.h"

/* About how many Omegas verify_search_predictions tries. */
enum { VERIFY_KEEPING_EVALUATIONS = 70 };

/* The unembedding reads the columns that the last layer is compared in? */
bool verify_has_logits(const ModelFile *model);

/* Those that return bool below: false when memory is short. */

/* Everything that does not depend on Omega but the reference. */
bool verify_prepare(Verify *verify, int threads) __attribute__((warn_unused_result));
void verify_clear(Verify *verify);

/* One input at its point's Omega: its rows into layers, its positions into logits. */
bool verify_input(bool *passed, Verify *verify, size_t i, const Shared *shared, const Point *point)
    __attribute__((warn_unused_result));

/* Do logits meet the tolerance, where it is for them?  What is no number does not. */
/* The exit code where one of these says that it could not go on, after a message: memory was short,
 * or the weights could not be read. */
int verify_fault(const Verify *verify);

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

/* Of one input at one Omega, whose base there is: its rows, and its logits. */
double verify_rows_seconds(const Verify *verify);

/* Of every input so many uses of so many seconds, with the bases that are made anew; uses 0: of the
 * phase that makes what is kept. */
double verify_phase_seconds(const Verify *verify, double uses, double seconds);

/* Begins a phase that uses every input so many times (more than once: about), at this many seconds
 * a use beside what is made anew; uses 0: the phase that makes what is kept. */
void verify_phase(Verify *verify, const char *label, double uses, double seconds);

#endif
