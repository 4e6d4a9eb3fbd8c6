/*
 * What `headproof verify` puts into its reports: a case a layer at an Omega (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_CASES_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_CASES_H

#include "verify.h"

#include "../check/outcome.h"

extern const OutcomeKind verify_outcome;

/* What the table of cases begins with. */
void verify_cases_header(FILE *file);

/* After verify_evaluate, which took so many seconds: its layers.  0; 99 after a message. */
int verify_cases_add(Outcome *outcome, const Verify *verify, double omega,
                     const LogitErrors *logits, double seconds) __attribute__((warn_unused_result));

#endif
