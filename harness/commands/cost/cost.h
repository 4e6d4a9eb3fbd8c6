/*
 * What one point costs, before and after the rewrite, and how that is written (docs/cost.md).
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_COST_COST_H
#define HEADPROOF_HARNESS_COMMANDS_COST_COST_H

#include "count.h"
#include "../../grid/grid.h"

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

/* What can be timed here, in each form: *times; why the other forms cannot is said on stderr.  2
 * after that when it is none of them, 99 after a message when memory is short. */
int cost_measure(Cost *cost) __attribute__((warn_unused_result));

/* 0, or -1 when the stream failed. */
int cost_write_header(FILE *file, const Cost *cost) __attribute__((warn_unused_result));
int cost_write_row(FILE *file, const Cost *cost) __attribute__((warn_unused_result));

/* For a terminal. */
void cost_print(FILE *file, const Cost *cost);

#endif
