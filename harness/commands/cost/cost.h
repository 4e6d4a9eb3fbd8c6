/*
 * What one point costs, before and after the rewrite, and how that is written (docs/convert.md).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_COST_H
#define HEADPROOF_HARNESS_COMMANDS_COST_COST_H

#include "count.h"
#include "../../grid/grid.h"

#include <stdio.h>

/* Seconds of one pass, the quickest of several. */
typedef struct {
    bool timed;
    double original, converted;
} CostTimes;

/* embedding: numbers that no construction touches.  times: of each form of kernel. */
typedef struct {
    const Point *point;
    const char *preset;
    ModelCost original, converted;
    mpz_t embedding;
    bool measured;
    CostTimes times[KERNEL_COUNT];
} Cost;

/* The names of the columns.  0, or -1 when the stream failed. */
int cost_write_header(FILE *file, const RunOptions *run) __attribute__((warn_unused_result));

#endif
