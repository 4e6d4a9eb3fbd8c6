/*
 * The end of a command whose rows judge themselves: its table, its reports, its exit code.
 *
 * The reports are the three that check has, made by the same writers of a table of cases, one line
 * of CSV each.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_OUTCOME_H
#define HEADPROOF_HARNESS_COMMANDS_OUTCOME_H

#include "check/report.h"

#include "../table/sink.h"

/* How a command's table is written, and of one that has reports how a failed case is told.  reason:
 * in words, for the status `fail` or `none`; column: that holds what failed; limit, bounds: those
 * that have its limit, and say whether it is only a bound, or NULL. */
typedef struct {
    SinkKind table;
    const char *command, *reason, *column, *limit, *bounds;
    /* Of the table of cases, with `status` the last column; what repeats one. */
    void (*write_header)(FILE *file, const RunOptions *run);
    void (*print_command)(FILE *file, const void *row, const RunOptions *run);
} OutcomeKind;

/* cases: the stream that their lines go to; NULL: no report is asked for.  text [length]: those
 * lines.  commands, seconds [count]: what repeats them, and how long they took. */
typedef struct {
    const OutcomeKind *kind;
    const RunOptions *run;
    Sink sink;
    RunRecord record;
    size_t failed; /* the command's own count: 0 is a pass */
    char *said;    /* a sentence about the verdict and what it is under for the reports, to be
                      freed; NULL: they have the conditions alone */
    FILE *cases;
    char *text;
    size_t length;
    char **commands;
    double *seconds;
    size_t count;
    Check check;
    Reports reports;
} Outcome;

/* Before any work: the table and the reports can be written.  sweep: of a run that has points, else
 * NULL.  0; 2 or 99 after a message.  End it in every case. */
int outcome_open(Outcome *outcome, const OutcomeKind *kind, const Grid *grid, const RunOptions *run,
                 const SweepRecord *sweep) __attribute__((warn_unused_result));

/* Adds to the reports, where any is asked for, the cases that are the lines that `write` writes of
 * a row; seconds: that all of them took. */
void outcome_add(Outcome *outcome, void (*write)(FILE *file, const void *row), const void *row,
                 size_t lines, double seconds);

/* Counts a row that fails, and says so on stderr, of many rows for the first ten; not where the
 * same terminal has a text about it, or rows are for a file alone. */
void outcome_fail(Outcome *outcome, const void *row);

/* status: what the command failed with, or 0.  Then the table is completed, and the reports are
 * written.  Returns the exit code: the first failure, or 1 where something failed, and clears. */
int outcome_end(Outcome *outcome, int status) __attribute__((warn_unused_result));

#endif
