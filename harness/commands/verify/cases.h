/*
 * What `headproof verify` puts into its reports: a case a layer at an Omega (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_CASES_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_CASES_H

#include "verify.h"

#include "../check/outcome.h"
#include "../../../reference/guarantee/guarantee.h"

extern const OutcomeKind verify_outcome;

/* What the table of cases begins with. */
void verify_cases_header(FILE *file);

/* After verify_evaluate, which took so many seconds: its layers.  0; 99 after a message. */
int verify_cases_add(Outcome *outcome, const Verify *verify, double omega,
                     const LogitErrors *logits, double seconds) __attribute__((warn_unused_result));

/* The same of what is proven of every input at that Omega: the bound, and whether it is above the
 * tolerance. */
int verify_cases_proven(Outcome *outcome, const Verify *verify, double omega, Magnitude bound,
                        bool refused) __attribute__((warn_unused_result));

#endif
