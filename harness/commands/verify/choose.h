/*
 * The Omega of `headproof verify` where none is given (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_CHOOSE_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_CHOOSE_H

#include "every_input.h"

/* Is an Omega to be chosen?  Then verify->chosen says so, and verify->aim what it is to meet;
 * before every_input_open. */
void verify_choose_begin(Verify *verify);

/* After it: the smallest that is proven for every input, where one is and the machine has it.  0; 2
 * or 99 after a message. */
int verify_choose_proven(Verify *verify, const EveryInput *every)
    __attribute__((warn_unused_result));

/* After verify_open_inputs, where none was: the smallest of the plateau that the inputs show.
 * false: memory is short. */
bool verify_choose_found(Verify *verify) __attribute__((warn_unused_result));

/* The line that says which it is, and why, where that is known and it came from there. */
void verify_choose_say(FILE *file, const Verify *verify, const EveryInput *every, OmegaSource from);

#endif
