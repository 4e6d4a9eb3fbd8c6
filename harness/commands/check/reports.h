/*
 * The files of --junit-xml, --markdown and --json, of check, verify and min-omega.
 */
#ifndef HEADPROOF_HARNESS_COMMANDS_CHECK_REPORTS_H
#define HEADPROOF_HARNESS_COMMANDS_CHECK_REPORTS_H

#include "check.h"

#include "../../base/atomic_file.h"

enum { REPORTS = 3 };

/* files: those that are no regular files; the others are opened when there is something to write,
 * so that a run that is killed leaves none half made. */
typedef struct {
    const CheckOptions *options;
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
