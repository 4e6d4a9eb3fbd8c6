/*
 * The journal of a sweep, or of a model's inputs: FILE.partial, to which points are added as they
 * are done.
 *
 * Its first line is the run's sidecar, which says what the rows are of.  A point follows as a line
 * "DIGEST INDEX LENGTH SECONDS" and so many bytes of rows; the digest is of the first line, of what
 * stands behind it and of the rows.  A run that resumes takes the points up to the first that is
 * not whole; when all are there, FILE gets their rows in grid order.
 */
#ifndef HEADPROOF_HARNESS_TABLE_JOURNAL_H
#define HEADPROOF_HARNESS_TABLE_JOURNAL_H

#include "sidecar.h"

#include <stdbool.h>

typedef struct Journal Journal;

/* Why what is there cannot be gone on with. */
#define JOURNAL_UNEXPECTED "the row is not the one expected there"
#define JOURNAL_ALTERED                                                                            \
    "the point's rows, or what is before them, were changed since the run wrote them"

/* An interrupted run that took less is dropped by a run that does not resume. */
#define JOURNAL_WORTH_SECONDS 60

/* A point: its place in the grid, its rows and how long it took. */
typedef struct {
    size_t index, length;
    const char *rows;
    double seconds;
} JournalPoint;

/* Opens FILE, which is a regular one or none yet, and looks at what is there.  With resume, what an
 * interrupted run of the same points, version and machine left, or a complete FILE of it, is taken
 * up; without, it is dropped, but not what took a minute or more.  flag: that FILE was given to,
 * for messages; NULL: output.  0; 2 after one message when FILE cannot be written, another run
 * writes it, what is there does not fit, or something beside it is not the program's own; 99. */
int journal_open(Journal **journal, const char *flag, const char *path, bool resume,
                 const RunRecord *run) __attribute__((warn_unused_result));

/* All of a complete FILE of a run like this, with a NUL behind; NULL: there is none. */
const char *journal_complete(const Journal *journal, size_t *size);

/* Does its sidecar say that every point passed? */
bool journal_passed(const Journal *journal);

/* The next point that is there.  False: there is none.  *broken: because it is not as the run wrote
 * it; a last one may be torn. */
bool journal_next(Journal *journal, JournalPoint *point, bool *broken);

/* The line, from 1, of a place in the text that is there; NULL: of what journal_next read last. */
size_t journal_line(const Journal *journal, const char *at);

/* True when there is something that a run that resumes goes on with. */
bool journal_survives(const Journal *journal);

/* Begins to write behind the points that were taken; what else is there is dropped.  0, or 99 after
 * a message. */
int journal_begin(Journal *journal, const RunRecord *run) __attribute__((warn_unused_result));

/* Appends a point; on disk after the next sync.  0, or -1 (errno). */
int journal_append(Journal *journal, const JournalPoint *point) __attribute__((warn_unused_result));
int journal_sync(Journal *journal) __attribute__((warn_unused_result));

/* Where a command writes the table that does not leave it to journal_finish.  NULL (errno): it
 * cannot be. */
FILE *journal_table(Journal *journal);

/* All points are there: FILE, the header and their rows in grid order (header NULL: what
 * journal_table was given), and its sidecar.  0, or 99 after a message. */
int journal_finish(Journal *journal, const char *header, const RunRecord *run)
    __attribute__((warn_unused_result));

/* Closes: points that are on disk stay for a run that resumes, anything else that is not complete
 * goes.  NULL is fine. */
void journal_clear(Journal *journal);

#endif
