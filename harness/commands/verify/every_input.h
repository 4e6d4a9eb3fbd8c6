/*
 * The proof for every input (docs/omega.md), beside the inputs that `verify` evaluates (private to
 * it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_EVERY_INPUT_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_EVERY_INPUT_H

#include "verify.h"

#include "../guarantee/bound.h"

/* Of one model after another.  misses: some Omega is not proven to meet the tolerance; omega: the
 * smallest that is, at the last of them; INFINITY: none is. */
typedef struct {
    const RunOptions *run;
    Bound bound;
    Point point; /* whose it is */
    bool there, said, misses;
    double omega;
} EveryInput;

/* Before any work: 2, after a message, where --every-input cannot be. */
int every_input_check(const Grid *grid, const RunOptions *run) __attribute__((warn_unused_result));

/* Proves bounds for the template's model, whose inputs are read: with --every-input, or where that
 * takes no time and somebody reads them.  0; 2 or 99 after a message.  Clear it in every case. */
int every_input_open(EveryInput *every, const Verify *verify) __attribute__((warn_unused_result));
void every_input_clear(EveryInput *every);

/* *omega = the smallest that is proven to meet verify->aim, or 0: none is, or what is judged is
 * nothing that is proven. */
void every_input_choose(double *omega, const EveryInput *every, const Verify *verify);

/* "every input of up to 3 tokens: ", and what of it: "all logits". */
void every_input_print_inputs(FILE *file, const EveryInput *every);
const char *every_input_what(const Verify *verify);

/* With --every-input: its case at the Omega at hand, which verify->passed then hangs on, too. */
void every_input_judge(EveryInput *every, Verify *verify);

/* The sentence, a line of it; not twice of one model. */
void every_input_say(FILE *file, EveryInput *every, const Verify *verify);

/* Of the verdict: "; every input: ...", with --every-input. */
void every_input_print(FILE *file, const EveryInput *every);

#endif
