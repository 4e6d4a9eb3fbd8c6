/*
 * The costs as text.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_PRINT_H
#define HEADPROOF_HARNESS_COMMANDS_COST_PRINT_H

#include "cost.h"

/* A Cost for a terminal (outcome.h). */
void cost_print(FILE *file, const void *row);

#endif
