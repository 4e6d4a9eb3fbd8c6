/*
 * Runs of the program in which one thing fails: inject/ makes it fail, these judge what came of it.
 */
#ifndef HEADPROOF_TESTS_PROGRAM_INJECTED_H
#define HEADPROOF_TESTS_PROGRAM_INJECTED_H

#include <stdbool.h>
#include <stddef.h>

/* headproof ARGUMENTS, words between single spaces, in a directory of its own beside in/.  Where
 * they are "... --resume -o r.csv", r.csv.partial has the first point of in/all.csv, of depth 2,
 * and no fault may lose it. */
typedef struct {
    const char *name, *arguments;
    bool nightly; /* in the long form alone */
} Scenario;

typedef struct Injected Injected;

/* A scratch directory with in/, out/ and, in in/, grid.case and model.safetensors. */
Injected *injected_make(void);
void injected_remove(Injected *injected);

/* An undisturbed run in out/, which must succeed. */
void injected_prepare(Injected *injected, const char *arguments);

/* Counts what can fail, lets it fail, prints how many did what; the number of runs that ended
 * otherwise than they may: exit code 99 after a message, no file published but as the undisturbed
 * run has it; or everything as it has it, its exit code (0 or 1) too.  The long form lets all fail;
 * the short one each allocation that no scenario before had, some of the others, and some calls. */
size_t injected_scenario(Injected *injected, const Scenario *scenario);

/* The same for one fault, as inject.h has it: 1 where it strikes and the run does not end
 * with 99; and where it strikes nothing, if it must, or if the run is not as an undisturbed one. */
size_t injected_fault(Injected *injected, const Scenario *scenario, const char *fault, bool must);

/* For every block of 16 KiB of each tensor of in/model.safetensors, and its header, a run in which
 * no read of it succeeds: the number of those that do not end with 99 after a message with the
 * file's name, and publish nothing. */
size_t injected_reads(Injected *injected, const Scenario *scenario);

/* A run, without faults, in so many KiB of addresses: its exit code; its last words are shown where
 * that is neither 0 nor 99. */
int injected_limited(Injected *injected, const Scenario *scenario, size_t kibibytes);

#endif
