/*
 * The reports of a check: a few lines for a terminal, and three files for machines and for people.
 *
 * Umbrella header: each of the three files has a .c of its own, with one function for others;
 * reports.c opens and finishes them.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_CHECK_REPORT_H
#define HEADPROOF_HARNESS_COMMANDS_CHECK_REPORT_H

#include "check.h"

#include "../../base/atomic_file.h"

/* Prints the verdict in lines, the worst findings first; with --quiet the verdict alone. */
void report_print(const Check *check);

/* JUnit's XML: a test case a row, and one for what is about no row. */
void report_xml(FILE *file, const Check *check);

/* For a pull request: the verdict, the worst rows, how to repeat them. */
void report_markdown(FILE *file, const Check *check);

/* Everything.  Values are strings: 6.3e-868 is no double. */
void report_json(FILE *file, const Check *check);

/* "FAIL: 3 of 420 rows, 5 findings, 9876 cells compared" */
#define VERDICT_TEXT 160
void report_verdict(char text[VERDICT_TEXT], const Check *check);

/* Findings that people are shown; the rest is counted. */
enum { FINDINGS_SHOWN = 10 };

/* Is the column of that name a part of a case's name? */
bool report_is_key(const char *column);

/* The sign before a cell that is only a bound, or "". */
const char *report_prefix(bool bound);

/* A finding's key as a string, of the columns that vary in the check's tables (NULL: of all); the
 * caller frees. */
char *report_key(const Check *check, const Finding *finding);

/* The command line that repeats it: one point, or, for a finding about no row, the whole check; the
 * caller frees. */
char *report_command(const Check *check, const Finding *finding);

/* That of finding i < shown, or NULL, where a later one of those shown has the same. */
char *report_last_command(const Check *check, size_t i, size_t shown);

/* ---- The files of --junit-xml, --markdown and --json, of check, verify and min-omega --------- */

enum { REPORTS = 3 };

/* files: those that are no regular files; the others are opened when there is something to write,
 * so that a run that is killed leaves none half made. */
typedef struct {
    const char *paths[REPORTS]; /* or NULL */
    AtomicFile files[REPORTS];
} Reports;

/* Is there any? */
bool reports_wanted(const CheckOptions *options);

/* Before any work: all can be written.  0; 2 or 99 after a message.  Clear them in every case. */
int reports_open(Reports *reports, const CheckOptions *options) __attribute__((warn_unused_result));

/* 0; 2 or 99 after a message. */
int reports_write(Reports *reports, const Check *check) __attribute__((warn_unused_result));

void reports_clear(Reports *reports);

#endif
