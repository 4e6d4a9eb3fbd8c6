/*
 * The table of costs.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_ROW_H
#define HEADPROOF_HARNESS_COMMANDS_COST_ROW_H

#include "cost.h"

/* 0, or -1 when the stream failed. */
int cost_write_header(FILE *file, const Cost *cost) __attribute__((warn_unused_result));
int cost_write_row(FILE *file, const Cost *cost) __attribute__((warn_unused_result));

#endif
