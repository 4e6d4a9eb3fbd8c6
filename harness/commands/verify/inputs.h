/*
 * Which inputs `headproof verify` evaluates (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_INPUTS_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_INPUTS_H

#include "verify.h"

/* There is one way to say what they are, and no flag that would change nothing.  0; 2 after a
 * message. */
int verify_inputs_check(const RunOptions *run) __attribute__((warn_unused_result));

/* Those that the flags name, or the model has.  0; 2 or 99 after a message. */
int verify_inputs_read(Verify *verify) __attribute__((warn_unused_result));

#endif
