/*
 * The insides of a journal (private to it).
 *
 *   journal.c            what is written
 *   journal_survivor.c   what an interrupted or a complete run left, and whether it is gone on with
 */
#ifndef HEADPROOF_HARNESS_TABLE_JOURNAL_SURVIVOR_H
#define HEADPROOF_HARNESS_TABLE_JOURNAL_SURVIVOR_H

#include "../base/atomic_file.h"
#include "journal.h"

/* rows: FILE.partial, open and locked.
 * text [size]: what was in it, or in a complete FILE.  length: of what is to stay in
 * FILE.partial, the header and whole points; header: of the former.
 * writing: FILE.partial has begun to change; begun: the sidecar is this run's; proven: all of text
 * has the digest that its sidecar was written with. */
struct Journal {
    AtomicFile rows;
    char *sidecar, *sidecar_partial, *sidecar_new;
    char *text;
    size_t size, header, length;
    Seals seals;
    bool writing, begun, complete, proven;
};

/* Opens and reads FILE.partial for a journal whose rows are empty but for their flag; see
 * journal_open.  On failure the caller clears. */
int journal_open_survivor(Journal *journal, const char *path, bool resume, const RunRecord *run)
    __attribute__((warn_unused_result));

#endif
