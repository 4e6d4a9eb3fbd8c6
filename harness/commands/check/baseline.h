/*
 * The baseline that `headproof check` compares with.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_CHECK_BASELINE_H
#define HEADPROOF_HARNESS_COMMANDS_CHECK_BASELINE_H

#include "check.h"

/* Reads the baseline, if options name one: strictly, before any work.  It must
 * be complete, with the sidecar that it was saved with, and have every column of a table.  0; 2
 * after a message; 99. */
int check_open(Check *check) __attribute__((warn_unused_result));

#endif
