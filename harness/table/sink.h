/*
 * Where a command's rows go: into a file that appears whole, with its sidecar, in CSV or another
 * format; onto stdout or a stream; or, where an interrupted run is gone on with, into a journal.
 *
 * A command says once how its table is written, and then puts rows.
 */
#ifndef HEADPROOF_HARNESS_TABLE_SINK_H
#define HEADPROOF_HARNESS_TABLE_SINK_H

#include "../base/atomic_file.h"
#include "format.h"
#include "journal.h"
#include "sidecar.h"

/* Where a command says what is not the table: stdout, unless that was asked to be the table. */
FILE *output_report(const RunOptions *run);

/* The form that goes to stdout where neither -o nor --format asks for the table. */
typedef enum {
    BARE_TABLE,    /* it, all the same */
    BARE_TEXT,     /* a text for its reader, if it is a terminal; else it */
    BARE_EYES,     /* it as a table for eyes, if it is a terminal; else it */
    BARE_SENTENCES /* what the command says, and no table */
} Bare;

/* row: whatever the command calls one. */
typedef struct {
    Bare bare;
    bool kept; /* CSV is: a run that is interrupted leaves points, and another goes on with them */
    void (*write_header)(FILE *file, const RunOptions *run);
    void (*write_row)(FILE *file, const void *row);
    void (*print)(FILE *file, const void *row); /* BARE_TEXT's; NULL: the command does it itself */
    const char *between;                        /* two such texts */
} SinkKind;

/* A sink stays where it is.  lines NULL: a journal takes the rows, or no table is asked for. */
typedef struct {
    const SinkKind *kind;
    const RunOptions *run;
    const RunRecord *record;
    Journal *journal;
    FILE *lines;       /* where lines of CSV go: as they are, or into taken [size] */
    FILE *rows;        /* the table: in `file`, or a stream that stays open */
    AtomicFile file;   /* all zero but for `table` where rows go to a stream */
    FormatTable table; /* of another format than CSV, else all zero */
    char *taken;       /* lines that become rows of another format at the next commit */
    size_t size;
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

/* Completes the file that rows were put into, and its sidecar.  0; 99 after a message. */
int sink_finish(Sink *sink) __attribute__((warn_unused_result));

/* Rows of a table that is not finished are dropped, or kept in a journal.  All zero is fine. */
void sink_clear(Sink *sink);

/* From here on every commit turns lines of CSV into rows of the table's format. */
void sink_format(Sink *sink, FormatTable table);

/* Hands on the lines of CSV that `lines` took.  0; -1 (errno): the disk is full, or failing. */
int sink_commit(Sink *sink) __attribute__((warn_unused_result));

/* Prints that it cannot be written, for errno's reason.  Returns 99. */
int sink_failed(const Sink *sink);

/* Prints that a journal cannot be gone on with, at a place in its text (journal_line).  Returns
 * 2. */
int sink_refuse(const Sink *sink, const char *at, const char *why);

#endif
