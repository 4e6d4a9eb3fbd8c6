/*
 * What of `headproof verify` fits, and how long it takes (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_FIT_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_FIT_H

#include "verify.h"

/* Refuses what does not fit whatever is kept, decides how many base trajectories are, times the
 * first inputs, says what is ahead when that is more than a few seconds, and opens the progress.
 * 0; 2 after a message with the figures; 99 after one when memory is short. */
int verify_predict(Verify *verify) __attribute__((warn_unused_result));

/* For --dry-run, in place of it: the command of each Omega, and on stderr, unless it is to be
 * quiet, what all inputs and one take. */
void verify_foretell(Verify *verify);

#endif
