/*
 * What `verify` says of a model's layer norms.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_VERIFY_NORMS_H
#define HEADPROOF_HARNESS_COMMANDS_VERIFY_NORMS_H

#include "verify.h"

#include <stdio.h>

/* Behind the sizes in the line about the model: which, where, eps; nothing without norms. */
void verify_print_norms(FILE *file, const Verify *verify);

/* A line about norms that do not normalise (model_norms.h), where they are such. */
void verify_print_norms_in_name(FILE *file, const Verify *verify);

#endif
