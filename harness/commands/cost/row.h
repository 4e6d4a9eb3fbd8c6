/*
 * The table of costs.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_ROW_H
#define HEADPROOF_HARNESS_COMMANDS_COST_ROW_H

#include "cost.h"

/* The columns of such a cost, and the row of one (a Cost): 0, or -1 when the stream failed. */
int cost_write_names(FILE *file, const Cost *cost) __attribute__((warn_unused_result));
int cost_write_row(FILE *file, const void *cost) __attribute__((warn_unused_result));

#endif
