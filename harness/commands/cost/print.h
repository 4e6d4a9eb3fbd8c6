/*
 * The costs as text.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_PRINT_H
#define HEADPROOF_HARNESS_COMMANDS_COST_PRINT_H

#include "cost.h"

/* For a terminal. */
void cost_print(FILE *file, const Cost *cost);

#endif
