/*
 * The time, and how far long work is, on stderr.
 *
 * Work is phases of units ("2809 inputs"), and every unit has a predicted cost, in any unit of
 * cost: the time to go is the cost to go over the rate at which cost has been done, so that a
 * hundred small points before a large one deceive nobody.  Where that wanders, as it does at first,
 * a range is said, of what it was in the last part of the time so far.  On a terminal there is one
 * line, redrawn at most ten times a second, and no longer than the terminal is wide; elsewhere one
 * plain line a minute, the first after a minute.
 *
 * Nothing here locks: callers of one Progress agree on a lock.
 */
#ifndef HEADPROOF_HARNESS_BASE_PROGRESS_H
#define HEADPROOF_HARNESS_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Wall time: seconds since some fixed moment, never going back. */
double clock_seconds(void);

enum { PROGRESS_LABEL = 40, DURATION_TEXT = 32 };

/* Where progress is told. */
typedef struct {
    FILE *stream;        /* NULL: nothing is said */
    bool terminal;       /* one line is redrawn */
    double (*now)(void); /* as clock_seconds */
    size_t width;        /* columns of the terminal; 0: it is asked, each time */
} ProgressSink;

/* stderr and the wall clock; quiet: nothing.  A terminal that cannot clear a line (TERM unset or
 * "dumb") is none. */
ProgressSink progress_stderr(bool quiet);

/* The least and the largest time that all the work was estimated to take; 0: no estimate. */
typedef struct {
    double least, most;
} Estimates;

typedef struct {
    ProgressSink sink;
    char label[PROGRESS_LABEL]; /* of the phase */
    const char *unit;           /* of the phase */
    size_t done, total;         /* units of the phase */
    double cost_total;          /* of all phases */
    double cost_before;         /* of the phases before this one */
    double cost_phase;          /* of this phase */
    double cost_done;           /* within this phase */
    double started, phase_started;
    Estimates estimates[2]; /* of the last two stretches of time, each a share of the time so far */
    double estimated_until; /* when the second is over */
    double said;            /* when it was last written about */
    bool drawn;             /* the terminal's line holds our text */
} Progress;

/* Begins work of this cost in all (unknown: 0, and no time to go is said). */
void progress_open(Progress *progress, ProgressSink sink, double cost);

/* Ends the phase before, at its whole cost, and begins one of total units (0: nobody knows how
 * many) and this cost.  label: "omega 20", or "" (copied, cut at PROGRESS_LABEL); unit: "inputs",
 * kept by the caller. */
void progress_phase(Progress *progress, const char *label, const char *unit, size_t total,
                    double cost);

/* Units that are done, and their cost together. */
void progress_add(Progress *progress, size_t units, double cost);

/* Nothing is done, but time passes: what ticker.h calls, so that long units are seen to go on. */
void progress_tick(Progress *progress);

/* Removes the line from the terminal: before a message, and at the end.  The next progress_add
 * brings it back. */
void progress_clear(Progress *progress);

/* "42 s", "12 min", "3.4 h", "5.0 days"; "an unknown time" unless seconds is finite and >= 0. */
const char *duration_print(char text[DURATION_TEXT], double seconds);

/* "about 42 s", "less than a second": what is predicted. */
const char *duration_about(char text[DURATION_TEXT], double seconds);

#endif
