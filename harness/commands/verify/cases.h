/*
 * What `headproof verify` puts into its reports: a case a layer at an Omega (private to it).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_CASES_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_CASES_H

#include "verify.h"

/* Of outcome.h; row: a Verify, of whose Omega at hand they are.  The table of cases; a line of each
 * layer; one of what is proven of every input; what repeats them, the model on the same inputs. */
int verify_cases_header(FILE *file, const RunOptions *run) __attribute__((warn_unused_result));
int verify_cases_layers(FILE *file, const void *row) __attribute__((warn_unused_result));
int verify_case_proven(FILE *file, const void *row) __attribute__((warn_unused_result));
void verify_print_command(FILE *file, const void *row, const RunOptions *run);

#endif
