/*
 * Points over the ranks of an MPI job.
 *
 * Every rank but 0 evaluates a shard of them, and rank 0 commits what comes.  What is committed
 * does not depend on how many there are.
 */
#ifndef HEADPROOF_HARNESS_EVALUATE_DISPATCH_H
#define HEADPROOF_HARNESS_EVALUATE_DISPATCH_H

#include "schedule.h"
#include "../table/sidecar.h"

/* Rank 0's view of the others. */
typedef struct Dispatch Dispatch;

/* Hears what the others are.  *ranks: for the sidecar.  Those with another version or another grid
 * are refused; another CPU or OpenBLAS core is said.  0, 2 or 99 after a message; *dispatch is
 * there even then. */
int dispatch_meet(Dispatch **dispatch, json_t **ranks, const RunRecord *run)
    __attribute__((warn_unused_result));

/* As schedule_run. */
bool dispatch_run(Dispatch *dispatch, const Work *work, CommitRows *commit, void *context)
    __attribute__((warn_unused_result));

/* Sends the others home; where some still evaluate, ends them with that exit code.  NULL is
 * fine. */
void dispatch_dismiss(Dispatch *dispatch, int code);

/* A rank other than 0: evaluates its shard. */
void dispatch_serve(const RunRecord *run, double memory);

#endif
