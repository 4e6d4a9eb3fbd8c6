/*
 * Where a command's rows go: into a file that appears whole, with its sidecar, in CSV or another
 * format; onto stdout or a stream; or, where an interrupted run is gone on with, into a journal.
 *
 * A command says once how its table is written, and then puts rows.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SINK_H
#define HEADPROOF_HARNESS_TABLE_SINK_H

#include "journal.h"
#include "output.h"

/* What stdout gets where neither -o nor --format asks for the table. */
typedef enum {
    BARE_TABLE,    /* it, all the same */
    BARE_TEXT,     /* a text for its reader, if it is a terminal; else it */
    BARE_SENTENCES /* what the command says, and no table */
} Bare;

/* row: whatever the command calls one.  Those that return int: 0, or -1 (errno). */
typedef struct {
    Bare bare;
    bool kept; /* CSV is: a run that is interrupted leaves rows, and another goes on with them */
    int (*write_header)(FILE *file, const RunOptions *run);
    int (*write_row)(FILE *file, const void *row);
    void (*print)(FILE *file, const void *row); /* BARE_TEXT's; NULL: the command does it itself */
    const char *between;                        /* two such texts */
} SinkKind;

/* output, journal: the one that is open; both NULL: no table is asked for. */
typedef struct {
    const SinkKind *kind;
    const RunOptions *run;
    const RunRecord *record;
    Output *output;
    Journal *journal;
    bool text;  /* a terminal gets a text for its reader */
    size_t put; /* rows */
} Sink;

/* As -o, --format, --resume and --expand say.  record: of the run, the caller's, asked at the end,
 * and by a journal at once.  0; 2 or 99 after a message.  Clear it in every case. */
int sink_open(Sink *sink, const SinkKind *kind, const RunOptions *run, const RunRecord *record)
    __attribute__((warn_unused_result));

/* Writes a row, behind the header if it is the first, or prints it; nothing where no table is asked
 * for.  0; 99 after a message. */
int sink_put(Sink *sink, const void *row) __attribute__((warn_unused_result));

/* Completes the file, and its sidecar.  0; 99 after a message. */
int sink_finish(Sink *sink) __attribute__((warn_unused_result));

/* What is not finished is dropped, or kept in a journal.  All zero is fine. */
void sink_clear(Sink *sink);

/* Rows that are lines of CSV already: the header, behind the first `kept` bytes of a journal's
 * rows; a point's, which took so long; what makes all of them last. */
int sink_begin(Sink *sink, size_t kept, const char *header) __attribute__((warn_unused_result));
int sink_append(Sink *sink, const char *rows, size_t length, double seconds)
    __attribute__((warn_unused_result));
int sink_sync(Sink *sink) __attribute__((warn_unused_result));

/* Prints that it cannot be written, for errno's reason.  Returns 99. */
int sink_failed(const Sink *sink);

#endif
