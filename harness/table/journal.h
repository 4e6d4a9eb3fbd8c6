/*
 * The results file of a sweep, which survives an interruption at any moment.
 *
 * Rows go to FILE.partial, whole points in grid order, each on disk before the next; before the
 * first, FILE.json.partial says what run they are of, and with every point it gets the seal of its
 * rows (Seals, below).  When all are there, FILE.partial becomes FILE and then
 * FILE.json.partial FILE.json.  A run that resumes goes on with what is there.
 */
#ifndef HEADPROOF_HARNESS_TABLE_JOURNAL_H
#define HEADPROOF_HARNESS_TABLE_JOURNAL_H

#include "sidecar.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Journal Journal;

/* An interrupted run that took less is dropped by a run that does not resume. */
#define JOURNAL_WORTH_SECONDS 60

/* Opens FILE, which is a regular one or none yet, and looks at what is there.  With resume, what an
 * interrupted run of the same points, version and machine left, or a complete FILE of it, is taken
 * up; without, FILE.partial is dropped, but not what took a minute or more.  flag: that FILE was
 * given to, for messages; NULL: output.  0; 2 after one message when FILE cannot be written,
 * another run writes it, what is there does not fit, or something beside it is not the program's
 * own; 99. */
int journal_open(Journal **journal, const char *flag, const char *path, bool resume,
                 const RunRecord *run) __attribute__((warn_unused_result));

/* The rows that are there already, without their header; they end in a NUL. */
const char *journal_rows(const Journal *journal, size_t *size);

/* False when rows are there behind another header line than this. */
bool journal_has_header(const Journal *journal, const char *header);

/* Are the first `length` bytes behind those that were taken the rows of the next point as the run
 * wrote them?  True takes them.  *broken: they were changed since; else nobody sealed them. */
bool journal_take(Journal *journal, const char *rows, size_t length, bool *broken);

/* Did the run seal another point behind those that were taken? */
bool journal_has_more(const Journal *journal);

/* True when nothing is left to do: FILE is there already, of a run like this. */
bool journal_is_complete(const Journal *journal);

/* True when there is something that a run that resumes goes on with. */
bool journal_survives(const Journal *journal);

/* Begins to write behind the first kept bytes of those rows; the rest is dropped.  kept 0: with
 * the header.  0, or 99 after a message. */
int journal_begin(Journal *journal, size_t kept, const char *header, const RunRecord *run)
    __attribute__((warn_unused_result));

/* Appends the rows of a point that took so long; on disk after the next sync.  0, or -1 (errno). */
int journal_append(Journal *journal, const char *rows, size_t length, double seconds)
    __attribute__((warn_unused_result));
int journal_sync(Journal *journal) __attribute__((warn_unused_result));

/* Completes the file.  0, or 99 after a message. */
int journal_finish(Journal *journal, const RunRecord *run) __attribute__((warn_unused_result));

/* Closes: points that are on disk stay for a run that resumes, anything else that is not complete
 * goes.  NULL is fine. */
void journal_clear(Journal *journal);

/* The seals of a journal's points: lines behind the sidecar in FILE.json.partial, one for every
 * point in FILE.partial, in its order.  A seal is a digest of the sidecar, of all rows before it
 * and of the point's own, and so says of which run they are and that nobody changed, moved or left
 * out one; how many seconds the point took stands behind it.
 * text [size]: of FILE.json.partial; used: its bytes up to the seal that is next.
 * last: the digest up to there.  seconds: of all points that have a seal, negative where one does
 * not say; file NULL: not being written. */
typedef struct {
    char *text;
    size_t size, used;
    uint64_t last;
    double seconds;
    FILE *file;
} Seals;

typedef enum { SEAL_RIGHT, SEAL_MISSING, SEAL_BROKEN } Seal;

/* Reads FILE.json.partial into seals that are all zero, or were read before.  The sidecar; NULL
 * where there is none: errno then says what file_fault asks. */
json_t *seals_load(Seals *seals, const char *path) __attribute__((warn_unused_result));

/* Is a seal next?  Is it that of these rows?  Then it is passed. */
bool seals_has_next(const Seals *seals);
Seal seals_take(Seals *seals, const char *rows, size_t length);

/* Begins to write behind the last seal that was passed; what is behind it is dropped.  0, or -1
 * (errno). */
int seals_begin(Seals *seals, const char *path) __attribute__((warn_unused_result));

/* The seal of a point whose rows come next; on disk after the sync.  0, or -1 (errno). */
int seals_append(Seals *seals, const char *rows, size_t length, double seconds)
    __attribute__((warn_unused_result));
int seals_sync(Seals *seals) __attribute__((warn_unused_result));

void seals_clear(Seals *seals);

#endif
