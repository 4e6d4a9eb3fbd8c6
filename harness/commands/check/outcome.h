/*
 * The reports of a command whose cases judge themselves, as verify and min-omega: a table of cases,
 * one line of CSV each, from which the same writers make the same three files as check has.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_CHECK_OUTCOME_H
#define HEADPROOF_HARNESS_COMMANDS_CHECK_OUTCOME_H

#include "reports.h"

/* How a failed case is told.  reason: in words, for the status `fail` or `none`; column: that holds
 * what failed; limit, bounds: those that have its limit, and say whether it is only a bound, or
 * NULL. */
typedef struct {
    const char *command, *reason, *column, *limit, *bounds;
} OutcomeKind;

/* file: where header and lines go, which end with the column `status`; NULL: no report is asked
 * for, and all of these do nothing. */
typedef struct {
    const OutcomeKind *kind;
    FILE *file;
    char *text;
    size_t length;
    char **commands; /* [cases] that reproduce them */
    double *seconds; /* [cases] that they took */
    size_t cases, capacity;
    Check check;
    Reports reports;
} Outcome;

/* Before any work: the reports can be written.  judged: anything is, by a tolerance.  0; 2 or 99
 * after a message.  Clear it in every case. */
int outcome_open(Outcome *outcome, const OutcomeKind *kind, const RunOptions *run, bool judged)
    __attribute__((warn_unused_result));

/* After the line of a case: what it took, and what reproduces it, which becomes the outcome's
 * (malloc'ed; NULL: memory was short).  0; 99 after a message. */
int outcome_case(Outcome *outcome, double seconds, char *command)
    __attribute__((warn_unused_result));

/* Writes the reports.  passed: the command's own verdict; said: a sentence about it, or NULL.  0; 2
 * or 99 after a message. */
int outcome_finish(Outcome *outcome, bool passed, const char *said)
    __attribute__((warn_unused_result));

void outcome_clear(Outcome *outcome);

#endif
